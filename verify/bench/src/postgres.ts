/** The Postgres of those that keep their runs in one: it ends with the process. */
import { PostgresServer } from "@divisi/testkit/journals"
import { Unavailable } from "./Unavailable.ts"

export const startPostgres = (): Promise<PostgresServer.PostgresServer> => {
  if (PostgresServer.find() === undefined) throw new Unavailable("it needs initdb, pg_ctl and postgres on this machine")
  return PostgresServer.start()
}
