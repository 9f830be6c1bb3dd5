/** The database tables and their migrations. */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { databaseNow, hasLock, lockClass, reconnectMillis, slotsClass } from "./owner.ts"
import type { Session } from "./session.ts"

/**
 * Creates the first version of the tables. All columns have plain types. `holds` contains the reservation for one call
 * on each account that the call is charged to. Its `state` is open, doubtful (the process has died, and the worst case
 * counts as spent) or settled (retained so that a call is charged only once). Pages of frequently updated tables have
 * free space for new row versions.
 */
const first = (schema: string) => `
  CREATE TABLE ${schema}.runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run text NOT NULL UNIQUE,
    epoch integer NOT NULL,
    owner text,
    length integer NOT NULL,
    bytes bigint NOT NULL,
    changed_at bigint NOT NULL,
    caller text,
    head text
  ) WITH (fillfactor = 70);
  CREATE INDEX runs_caller ON ${schema}.runs (caller, id);
  CREATE INDEX runs_owner ON ${schema}.runs (owner) WHERE owner IS NOT NULL;
  CREATE TABLE ${schema}.batches (
    run bigint NOT NULL,
    seq integer NOT NULL,
    entries text NOT NULL,
    PRIMARY KEY (run, seq)
  );
  CREATE TABLE ${schema}.accounts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    limits text NOT NULL,
    cost_usd double precision NOT NULL DEFAULT 0,
    input_tokens double precision NOT NULL DEFAULT 0,
    output_tokens double precision NOT NULL DEFAULT 0,
    calls bigint NOT NULL DEFAULT 0,
    unpriced_calls bigint NOT NULL DEFAULT 0,
    open bigint NOT NULL DEFAULT 0,
    reserved_usd double precision NOT NULL DEFAULT 0,
    reserved_tokens double precision NOT NULL DEFAULT 0,
    changed_at bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE TABLE ${schema}.holds (
    id text PRIMARY KEY,
    account text NOT NULL,
    call text,
    chain text NOT NULL,
    cost_usd double precision,
    tokens double precision NOT NULL,
    state text NOT NULL,
    owner text NOT NULL,
    changed_at bigint NOT NULL,
    UNIQUE (account, call)
  );
  CREATE INDEX holds_open ON ${schema}.holds (owner) WHERE state = 'open';
  CREATE INDEX holds_closed ON ${schema}.holds (changed_at) WHERE state <> 'open';
  CREATE TABLE ${schema}.records (
    kind text NOT NULL,
    name text NOT NULL,
    bytes integer NOT NULL,
    kept_at bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (kind, name)
  );
  CREATE INDEX records_kept_at ON ${schema}.records (kind, kept_at);
  CREATE TABLE ${schema}.version (version integer NOT NULL);
  INSERT INTO ${schema}.version VALUES (0)
`

/** Creates the table of rate limits. It is unlogged: the data may be reset when the database crashes. */
const withPaces = (schema: string) => `
  CREATE UNLOGGED TABLE ${schema}.paces (
    name text PRIMARY KEY,
    requests_full_at double precision NOT NULL,
    tokens_full_at double precision NOT NULL
  ) WITH (fillfactor = 50)
`

/**
 * Selects the amounts that a task draws from other holds (or returns to them, if negative), for holds that are still
 * open.
 */
const draws = (schema: string) => `
  SELECT given.* FROM jsonb_to_recordset(coalesce(task.draws, '[]'::jsonb)) AS given (
    "from" text, at integer, cost double precision, tokens double precision
  ) JOIN ${schema}.holds AS known ON known.id = given."from" AND known.state = 'open'`

/** Statement that avoids reserving amounts again that are drawn from other holds. */
const drawn = (schema: string, sign: "+" | "-") => `IF task.draws <> '[]' THEN
          FOR draw IN ${draws(schema)} LOOP
            reserved[draw.at] := reserved[draw.at] ${sign} draw.cost;
            tokens_reserved[draw.at] := tokens_reserved[draw.at] ${sign} draw.tokens;
            changed[draw.at] := true;
          END LOOP;
          END IF;`

/** Statement that records, on the other holds, the amounts drawn from them. */
const drawing = (schema: string) => `IF task.draws <> '[]' THEN
          FOR draw IN ${draws(schema)} LOOP
            UPDATE ${schema}.holds AS known SET drawn = jsonb_set(known.drawn, ARRAY[names[draw.at]], jsonb_build_array(
              coalesce((known.drawn->names[draw.at]->>0)::double precision, 0) + draw.cost,
              coalesce((known.drawn->names[draw.at]->>1)::double precision, 0) + draw.tokens))
            WHERE known.id = draw."from";
          END LOOP;
          END IF;`

/**
 * Statement that removes accounts from a task that were already charged for its call, because a run may be resumed
 * under another account with the same parent. The name of a daily account ends with its date.
 */
const uncharged = (schema: string, counts: string) => `task.chain := ARRAY(
            SELECT given.at FROM unnest(task.chain) WITH ORDINALITY AS given (at, place) WHERE NOT EXISTS (
              SELECT FROM ${schema}.holds AS known, jsonb_array_elements_text(known.chain::jsonb) AS charged (name)
              WHERE known.call = task.call AND (${counts})
                AND ${undated("charged.name")} = ${undated("names[given.at]")}
            ) ORDER BY given.place);
          task.names := to_jsonb(ARRAY(
            SELECT names[given.at] FROM unnest(task.chain) WITH ORDINALITY AS given (at, place) ORDER BY given.place))::text;`

/**
 * Returns an SQL condition that checks whether a hold's owner holds its lock and was seen recently. Such an owner
 * closes the hold itself.
 */
const isActive = (schema: string, owner: string) => `(${hasLock(owner)} AND EXISTS (
            SELECT FROM ${schema}.owners AS seen
            WHERE seen.process = ${owner} AND seen.seen_at > ${databaseNow} - ${reconnectMillis}
          ))`

const undated = (name: string) => `regexp_replace(${name}, '@\\d{4}-\\d\\d-\\d\\d$', '')`

/** Adds an index to find the accounts charged for a call by the call's name. */
const withCalls = (schema: string) => [
  `CREATE INDEX holds_call ON ${schema}.holds (call) WHERE call IS NOT NULL`,
  withAccountTasks(schema)
]

/** Adds the amounts that nested calls have drawn from a call's hold, in USD and tokens, keyed by account name. */
const withDraws = (schema: string) => [
  `ALTER TABLE ${schema}.holds ADD COLUMN drawn jsonb NOT NULL DEFAULT '{}'`,
  withAccountTasks(schema)
]

/**
 * Creates the database function that applies tasks to accounts and holds. Because a flush is one statement, a process
 * that stops in the middle of it holds no lock. Each task of a flush sees the effects of the previous ones, and is
 * performed once, even if it is sent several times. `names` are the accounts used by the tasks; a `chain` contains
 * indexes into `names`.
 */
const withAccountTasks = (schema: string) => `
  CREATE OR REPLACE FUNCTION ${schema}.account_tasks(self text, at_millis bigint, names text[], begun_limits text[], tasks jsonb)
  RETURNS TABLE (kind text, detail text, chain text, allowed double precision, spent double precision,
    needed double precision)
  LANGUAGE plpgsql AS $body$
  DECLARE
    account ${schema}.accounts;
    hold ${schema}.holds;
    task record;
    nothing double precision[] := array_fill(0::double precision, ARRAY[cardinality(names)]);
    ids bigint[] := array_fill(NULL::bigint, ARRAY[cardinality(names)]);
    texts text[] := begun_limits;
    limited_usd double precision[] := array_fill(NULL::double precision, ARRAY[cardinality(names)]);
    limited_tokens double precision[] := limited_usd;
    limited_calls double precision[] := limited_usd;
    cost double precision[] := nothing;
    input double precision[] := nothing;
    output double precision[] := nothing;
    made double precision[] := nothing;
    unpriced double precision[] := nothing;
    opened double precision[] := nothing;
    reserved double precision[] := nothing;
    tokens_reserved double precision[] := nothing;
    changed boolean[] := array_fill(false, ARRAY[cardinality(names)]);
    i integer;
    has_hold boolean;
    waits boolean;
    d_open integer;
    d_reserved double precision;
    d_tokens double precision;
    d_cost double precision;
    d_input double precision;
    d_output double precision;
    d_calls integer;
    d_unpriced integer;
    -- How what was drawn of a hold changes what is reserved, and what counts as spent.
    s_reserved integer;
    s_spent integer;
    drawn_usd double precision;
    drawn_tokens double precision;
    clips boolean;
    excess double precision;
    draw record;
  BEGIN
    -- In one order, so that two processes do not wait for each other.
    INSERT INTO ${schema}.accounts (name, limits, changed_at)
      SELECT given.name, given.begun, at_millis FROM unnest(names, begun_limits) AS given (name, begun)
      WHERE NOT EXISTS (SELECT FROM ${schema}.accounts AS known WHERE known.name = given.name)
      ORDER BY given.name ON CONFLICT DO NOTHING;
    FOR account IN SELECT known.* FROM ${schema}.accounts AS known WHERE known.name = ANY (names) ORDER BY known.id FOR UPDATE
    LOOP
      i := array_position(names, account.name);
      ids[i] := account.id;
      texts[i] := account.limits;
      cost[i] := account.cost_usd;
      input[i] := account.input_tokens;
      output[i] := account.output_tokens;
      made[i] := account.calls;
      unpriced[i] := account.unpriced_calls;
      opened[i] := account.open;
      reserved[i] := account.reserved_usd;
      tokens_reserved[i] := account.reserved_tokens;
      limited_usd[i] := (account.limits::jsonb->>'costUsd')::double precision;
      limited_tokens[i] := (account.limits::jsonb->>'tokens')::double precision;
      limited_calls[i] := (account.limits::jsonb->>'calls')::double precision;
    END LOOP;

    FOR task IN SELECT * FROM jsonb_to_recordset(tasks) AS given (
      type text, id text, account text, call text, occurrence text, chain integer[], names text, cost double precision,
      tokens double precision, used boolean, input double precision, output double precision, owner text, limits text,
      draws jsonb, is_drawn boolean
    ) LOOP
      kind := 'done';
      detail := NULL;
      chain := NULL;
      allowed := NULL;
      spent := NULL;
      needed := NULL;
      d_open := 0;
      d_reserved := 0;
      d_tokens := 0;
      d_cost := 0;
      d_input := 0;
      d_output := 0;
      d_calls := 0;
      d_unpriced := 0;
      s_reserved := 0;
      s_spent := 0;
      clips := false;
      SELECT known.* INTO hold FROM ${schema}.holds AS known WHERE known.id = task.id;
      has_hold := FOUND;

      IF task.type = 'open' THEN
        i := task.chain[1];
        IF task.limits IS NOT NULL AND task.limits <> texts[i] THEN
          texts[i] := task.limits;
          limited_usd[i] := (task.limits::jsonb->>'costUsd')::double precision;
          limited_tokens[i] := (task.limits::jsonb->>'tokens')::double precision;
          limited_calls[i] := (task.limits::jsonb->>'calls')::double precision;
          changed[i] := true;
        END IF;

      ELSIF task.type = 'reserve' THEN
        IF NOT has_hold AND task.call IS NOT NULL THEN
          SELECT known.* INTO hold FROM ${schema}.holds AS known
            WHERE known.account = task.account AND known.call = task.call;
          has_hold := FOUND;
          IF has_hold AND NOT (task.occurrence = 'replayed' OR (task.occurrence = 'resumed' AND hold.state <> 'settled'
            AND (hold.owner = self OR NOT ${isActive(schema, "hold.owner")}))) THEN
            -- Another call has the name already, or an active process that is about to lose the run, or has taken it over.
            task.call := NULL;
            has_hold := false;
          END IF;
        END IF;
        IF NOT has_hold AND task.call IS NOT NULL AND task.occurrence <> 'new' THEN
          ${uncharged(schema, "task.occurrence = 'replayed' OR known.state <> 'settled'")}
        END IF;
        IF has_hold THEN
          IF hold.owner <> self THEN
            UPDATE ${schema}.holds AS known SET owner = self, changed_at = at_millis WHERE known.id = hold.id;
          END IF;
          kind := 'hold';
          detail := hold.id;
          chain := hold.chain;
        ELSE
          waits := false;
          ${drawn(schema, "-")}
          FOREACH i IN ARRAY task.chain LOOP
            IF task.cost IS NULL AND limited_usd[i] IS NOT NULL THEN
              kind := 'refused';
              detail := 'costUsd';
              allowed := limited_usd[i];
              spent := cost[i];
            ELSIF cost[i] + coalesce(task.cost, 0) > limited_usd[i]
              OR (reserved[i] <= 0 AND cost[i] + reserved[i] + coalesce(task.cost, 0) > limited_usd[i]) THEN
              kind := 'refused';
              detail := 'costUsd';
              allowed := limited_usd[i];
              spent := cost[i];
              needed := coalesce(task.cost, 0);
            ELSIF input[i] + output[i] + task.tokens > limited_tokens[i]
              OR (tokens_reserved[i] <= 0 AND input[i] + output[i] + tokens_reserved[i] + task.tokens > limited_tokens[i]) THEN
              kind := 'refused';
              detail := 'tokens';
              allowed := limited_tokens[i];
              spent := input[i] + output[i];
              needed := task.tokens;
            ELSIF made[i] + opened[i] + 1 > limited_calls[i] THEN
              -- A call is never settled for less than one call, so waiting makes no room for another.
              kind := 'refused';
              detail := 'calls';
              allowed := limited_calls[i];
              spent := made[i] + opened[i];
              needed := 1;
            ELSIF cost[i] + reserved[i] + coalesce(task.cost, 0) > limited_usd[i]
              OR input[i] + output[i] + tokens_reserved[i] + task.tokens > limited_tokens[i] THEN
              waits := true;
            END IF;
            EXIT WHEN kind = 'refused';
          END LOOP;
          IF kind = 'refused' OR waits THEN
            ${drawn(schema, "+")}
          END IF;
          IF kind <> 'refused' AND waits THEN
            kind := 'wait';
          ELSIF kind <> 'refused' THEN
            ${drawing(schema)}
            INSERT INTO ${schema}.holds (id, account, call, chain, cost_usd, tokens, state, owner, changed_at)
              VALUES (task.id, task.account, task.call, task.names, task.cost, task.tokens, 'open', self, at_millis);
            d_open := 1;
            d_reserved := coalesce(task.cost, 0);
            d_tokens := task.tokens;
            kind := 'hold';
            detail := task.id;
            chain := task.names;
          END IF;
        END IF;

      ELSIF task.type = 'charge' THEN
        IF NOT has_hold AND NOT EXISTS (
          SELECT FROM ${schema}.holds AS known WHERE known.account = task.account AND known.call = task.call
        ) THEN
          IF task.call IS NOT NULL THEN
            ${uncharged(schema, "true")}
          END IF;
          INSERT INTO ${schema}.holds (id, account, call, chain, cost_usd, tokens, state, owner, changed_at)
            VALUES (task.id, task.account, task.call, task.names, task.cost, 0, 'settled', self, at_millis);
          d_cost := task.cost;
        END IF;

      -- A process that has lost a run must not release what its next owner has taken over.
      ELSIF has_hold AND hold.state <> 'settled' AND hold.owner = coalesce(task.owner, self)
        AND (task.type = 'close' OR hold.state = 'open') THEN
        -- What a hold counts for is taken back.
        IF hold.state = 'open' THEN
          d_open := -1;
          s_reserved := 1;
          clips := task.used AND task.is_drawn;
          d_reserved := -coalesce(hold.cost_usd, 0);
          d_tokens := -hold.tokens;
        ELSE
          s_spent := 1;
          d_cost := -coalesce(hold.cost_usd, 0);
          d_input := -hold.tokens;
          d_calls := -1;
          d_unpriced := -(hold.cost_usd IS NULL)::integer;
        END IF;
        IF task.type = 'bury' THEN
          -- Its process may live after all, and say what was used.
          UPDATE ${schema}.holds AS known SET state = 'doubtful', changed_at = at_millis WHERE known.id = hold.id;
          s_spent := s_spent - 1;
          d_cost := d_cost + coalesce(hold.cost_usd, 0);
          d_input := d_input + hold.tokens;
          d_calls := d_calls + 1;
          d_unpriced := d_unpriced + (hold.cost_usd IS NULL)::integer;
        ELSE
          ${drawn(schema, "-")}
          ${drawing(schema)}
          IF task.used THEN
            d_cost := d_cost + coalesce(task.cost, 0);
            d_input := d_input + task.input;
            d_output := task.output;
            d_calls := d_calls + 1;
            d_unpriced := d_unpriced + (task.cost IS NULL)::integer;
          END IF;
          IF task.used AND hold.call IS NOT NULL THEN
            UPDATE ${schema}.holds AS known SET state = 'settled', changed_at = at_millis WHERE known.id = hold.id;
          ELSE
            DELETE FROM ${schema}.holds AS known WHERE known.id = hold.id;
          END IF;
        END IF;
      END IF;

      IF d_open <> 0 OR d_calls <> 0 OR d_cost <> 0 OR d_input <> 0 OR d_output <> 0 OR d_unpriced <> 0
        OR s_spent <> 0 THEN
        FOREACH i IN ARRAY task.chain LOOP
          drawn_usd := coalesce((hold.drawn->names[i]->>0)::double precision, 0);
          drawn_tokens := coalesce((hold.drawn->names[i]->>1)::double precision, 0);
          opened[i] := opened[i] + d_open;
          -- With nothing open, the sum is exactly zero: rounding errors do not stay.
          reserved[i] := CASE WHEN opened[i] = 0 THEN 0 ELSE reserved[i] + d_reserved + s_reserved * drawn_usd END;
          tokens_reserved[i] := tokens_reserved[i] + d_tokens + s_reserved * drawn_tokens;
          cost[i] := cost[i] + d_cost + s_spent * drawn_usd;
          input[i] := input[i] + d_input + s_spent * drawn_tokens;
          output[i] := output[i] + d_output;
          IF clips THEN
            -- Calls within it have used a part of its reservation: no more is charged than the limit allows.
            cost[i] := cost[i] - least(coalesce(task.cost, 0),
              greatest(0, coalesce(cost[i] + reserved[i] - limited_usd[i], 0)));
            excess := greatest(0, coalesce(input[i] + output[i] + tokens_reserved[i] - limited_tokens[i], 0));
            output[i] := output[i] - least(excess, task.output);
            input[i] := input[i] - least(greatest(0, excess - task.output), task.input);
          END IF;
          made[i] := made[i] + d_calls;
          unpriced[i] := unpriced[i] + d_unpriced;
          changed[i] := true;
        END LOOP;
      END IF;
      RETURN NEXT;
    END LOOP;

    FOR i IN 1 .. cardinality(names) LOOP
      IF changed[i] THEN
        UPDATE ${schema}.accounts AS known SET limits = texts[i], cost_usd = cost[i],
          input_tokens = input[i], output_tokens = output[i], calls = made[i],
          unpriced_calls = unpriced[i], open = opened[i], reserved_usd = reserved[i],
          reserved_tokens = tokens_reserved[i], changed_at = at_millis
        WHERE known.id = ids[i];
      END IF;
    END LOOP;
    kind := 'account';
    allowed := NULL;
    spent := NULL;
    needed := NULL;
    FOR i IN 1 .. cardinality(names) LOOP
      detail := names[i];
      chain := jsonb_build_array(texts[i], cost[i], input[i], output[i], made[i], unpriced[i], opened[i], reserved[i],
        tokens_reserved[i])::text;
      RETURN NEXT;
    END LOOP;
  END
  $body$`

/**
 * Adds corrections of accounts with an audit trail. `body` is an adjustment as JSON, without its accounts. Accounts are
 * locked in the same order as in `account_tasks`.
 */
const withAdjustments = (schema: string): ReadonlyArray<string> => [
  `CREATE TABLE ${schema}.adjustments (
    number bigint GENERATED ALWAYS AS IDENTITY,
    id text PRIMARY KEY,
    body text NOT NULL
  )`,
  `CREATE OR REPLACE FUNCTION ${schema}.adjust_accounts(given_id text, names text[], add_usd double precision,
    set_usd double precision, at_millis bigint, given text)
  RETURNS text
  LANGUAGE plpgsql AS $body$
  DECLARE
    done text;
    topmost double precision;
    lines jsonb;
  BEGIN
    INSERT INTO ${schema}.adjustments (id, body) VALUES (given_id, given) ON CONFLICT (id) DO NOTHING;
    IF NOT FOUND THEN
      SELECT known.body INTO done FROM ${schema}.adjustments AS known WHERE known.id = given_id;
      RETURN done;
    END IF;
    INSERT INTO ${schema}.accounts (name, limits, changed_at)
      SELECT name, '{}', at_millis FROM unnest(names) AS missing (name) ORDER BY name ON CONFLICT DO NOTHING;
    PERFORM FROM ${schema}.accounts AS known WHERE known.name = ANY (names) ORDER BY known.id FOR UPDATE;
    SELECT known.cost_usd INTO topmost FROM ${schema}.accounts AS known WHERE known.name = names[cardinality(names)];
    SELECT jsonb_agg(jsonb_build_object('name', known.name, 'beforeUsd', known.cost_usd,
        'afterUsd', greatest(0, known.cost_usd + coalesce(add_usd, set_usd - topmost))) ORDER BY position)
      INTO lines FROM unnest(names) WITH ORDINALITY AS named (name, position)
      JOIN ${schema}.accounts AS known ON known.name = named.name;
    UPDATE ${schema}.accounts AS known
      SET cost_usd = greatest(0, known.cost_usd + coalesce(add_usd, set_usd - topmost)), changed_at = at_millis
      WHERE known.name = ANY (names);
    UPDATE ${schema}.adjustments AS known SET body = (given::jsonb || jsonb_build_object('accounts', lines))::text
      WHERE known.id = given_id RETURNING known.body INTO done;
    RETURN done;
  END
  $body$`
]

/** Adds an index to find runs by the request that they answer. */
const withRequests = (schema: string): ReadonlyArray<string> => [
  `ALTER TABLE ${schema}.runs ADD COLUMN request text`,
  `CREATE INDEX runs_request ON ${schema}.runs (request, id) WHERE request IS NOT NULL`
]

/**
 * Adds the time at which each process was last seen, by the database's clock. After a crash of the database the table
 * is empty, and its clients reconnect.
 */
const withOwners = (schema: string) => `
  CREATE UNLOGGED TABLE ${schema}.owners (process text PRIMARY KEY, seen_at double precision NOT NULL) WITH (fillfactor = 50)
`

/** Adds the addresses of servers that were asked to drain. */
const withDrains = (schema: string) => `CREATE TABLE ${schema}.drains (address text PRIMARY KEY, at bigint NOT NULL)`

/** Adds tasks that machines claim until a given time by the database's clock. `body` is the answer. */
const withTasks = (schema: string) => [
  `CREATE TABLE ${schema}.works (id text PRIMARY KEY, plan text NOT NULL, begun_at bigint NOT NULL)`,
  `CREATE TABLE ${schema}.tasks (
    work text NOT NULL,
    key text NOT NULL,
    position integer NOT NULL,
    owner text,
    until double precision,
    attempts integer NOT NULL DEFAULT 0,
    body text,
    PRIMARY KEY (work, key)
  ) WITH (fillfactor = 70)`,
  `CREATE INDEX tasks_open ON ${schema}.tasks (work, position) WHERE body IS NULL`
]

/** Adds the cancelled cluster runs, so that the next owner of a run also knows that it was cancelled. */
const withCancelled = (schema: string) => `CREATE TABLE ${schema}.cancelled (run text PRIMARY KEY, at bigint NOT NULL)`

/**
 * Adds `since`, the time from which a process was seen without a gap, and `takeovers`, the number of processes in a row
 * that lost the run without receiving an answer.
 */
const withTakeovers = (schema: string) => [
  `ALTER TABLE ${schema}.owners ADD COLUMN since double precision NOT NULL DEFAULT 0`,
  `ALTER TABLE ${schema}.runs ADD COLUMN takeovers integer NOT NULL DEFAULT 0`
]

/**
 * Adds shares of slots for concurrent calls. If more are `wanted` than there are, each process gets a fair number, and
 * the processes that were served least recently get the rest. Slots with calls in flight cannot be taken away, so `held`
 * may be more than is fair.
 */
const withSlots = (schema: string) => [
  `CREATE TABLE ${schema}.slots (
    name text NOT NULL,
    process text NOT NULL,
    held integer NOT NULL,
    wanted integer NOT NULL,
    served_at double precision NOT NULL,
    until double precision NOT NULL,
    PRIMARY KEY (name, process)
  ) WITH (fillfactor = 50)`,
  `CREATE OR REPLACE FUNCTION ${schema}.share_slots(given text, self text, total integer, in_use integer, asked integer,
    lease_millis double precision)
  RETURNS TABLE (slots integer, contended boolean)
  LANGUAGE plpgsql AS $body$
  DECLARE
    at_millis double precision;
    free integer;
    fair integer;
    needed integer;
  BEGIN
    PERFORM pg_advisory_xact_lock(${slotsClass}, hashtext('${schema} ' || given));
    at_millis := ${databaseNow};
    DELETE FROM ${schema}.slots AS known
      WHERE known.name = given AND (known.until < at_millis OR (asked = 0 AND known.process = self));
    IF asked = 0 THEN
      RETURN QUERY SELECT 0, false;
      RETURN;
    END IF;
    INSERT INTO ${schema}.slots AS known VALUES (given, self, in_use, asked, at_millis, at_millis + lease_millis)
      ON CONFLICT (name, process) DO UPDATE SET held = in_use, wanted = asked, until = excluded.until,
        served_at = CASE WHEN in_use > 0 THEN at_millis ELSE known.served_at END;
    WITH ranked AS (
      SELECT known.process, known.held, known.wanted, greatest((total / count(*) OVER ())::integer,
        CASE WHEN row_number() OVER (ORDER BY known.served_at, known.process) <= total THEN 1 ELSE 0 END) AS fair_part
      FROM ${schema}.slots AS known WHERE known.name = given
    )
    SELECT total - coalesce(sum(held) FILTER (WHERE process <> self), 0), max(fair_part) FILTER (WHERE process = self),
      coalesce(sum(greatest(0, least(wanted, fair_part) - held)) FILTER (WHERE process <> self), 0),
      coalesce(bool_or(wanted > held) FILTER (WHERE process <> self), false)
      INTO free, fair, needed, contended FROM ranked;
    slots := greatest(0, least(asked, free, greatest(fair, free - needed)));
    UPDATE ${schema}.slots AS known SET held = greatest(in_use, share_slots.slots),
      served_at = CASE WHEN share_slots.slots > 0 THEN at_millis ELSE known.served_at END
      WHERE known.name = given AND known.process = self;
    RETURN NEXT;
  END
  $body$`
]

/**
 * The migrations that create the tables, in order. The version of the tables is the number of completed migrations.
 * Tables with a later version are left unchanged.
 */
const steps: ReadonlyArray<(schema: string) => ReadonlyArray<string>> = [
  (schema) => first(schema).split(";"),
  (schema) => [withPaces(schema)],
  (schema) => [withAccountTasks(schema)],
  withAdjustments,
  withDraws,
  (schema) => [...withRequests(schema), withOwners(schema)],
  withCalls,
  (schema) => [withAccountTasks(schema)],
  (schema) => [withCancelled(schema)],
  withTasks,
  (schema) => [withDrains(schema)],
  withTakeovers,
  (schema) => [withAccountTasks(schema)],
  withSlots
]

/** Returns the version of the existing tables, or 0 if they do not exist. */
const find = (session: Session, schema: string): Effect.Effect<number, SqlError> =>
  Effect.gen(function* () {
    // A look-up by `to_regclass` may use a cache that misses tables which another process has just created.
    const there = "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 AND tablename = 'version'"
    if ((yield* session.query(there, [schema])).length === 0) return 0
    const [found] = yield* session.query(`SELECT version FROM ${schema}.version`)
    return Number(found?.[0])
  })

/** Creates the missing tables, in a transaction. Returns whether their version is supported. */
export const prepare = (session: Session, schema: string): Effect.Effect<"ours" | "Newer", SqlError> =>
  Effect.gen(function* () {
    const found = yield* find(session, schema)
    if (found === steps.length) return "ours"
    // If several servers start at once, only one of them creates the tables.
    yield* session.query("SET LOCAL statement_timeout = 0")
    yield* session.query("SELECT pg_advisory_xact_lock($1::integer, 0)::text", [`${lockClass}`])
    const before = yield* find(session, schema)
    if (before >= steps.length) return before > steps.length ? "Newer" : "ours"
    if (before === 0) yield* session.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
    for (const step of steps.slice(before)) {
      for (const statement of step(schema)) yield* session.query(statement)
    }
    yield* session.query(`UPDATE ${schema}.version SET version = $1::integer`, [`${steps.length}`])
    return "ours"
  })
