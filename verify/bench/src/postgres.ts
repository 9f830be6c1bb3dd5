/** The Postgres server for contenders that store their runs in one. It stops when the process exits. */
import { PostgresServer } from "@divisi/testkit/journals"
import { Unavailable } from "./Unavailable.ts"

export const startPostgres = (): Promise<PostgresServer.PostgresServer> => {
  if (PostgresServer.find() === undefined) throw new Unavailable("it needs initdb, pg_ctl and postgres on this machine")
  return PostgresServer.start()
}
