-- What the jobs of the service keep: archiving, deletions, and the size of the database.

-- Which days of a connection lie in the archive, so that reading them needs no look into the folders of the bucket.
-- `parts` are its files, in order. D1 has what they lack, what it has yet to delete, and what came in since. A day of many
-- files has several rows, because a row must not be too long for the import of a dump.
create table archived_days (
  kind          text not null,
  account_id    text not null,
  connection_id text not null references connections (id),
  day           integer not null, -- days since 1970, UTC
  piece         integer not null, -- from 0
  parts         text not null check (json_valid(parts)),
  primary key (connection_id, kind, day, piece)
) strict, without rowid;
create index archived_days_by_account on archived_days (account_id, kind, day, connection_id);

-- Jobs that run, or wait to be run, and other work that one at a time may do. A row is deleted when the work is done.
-- One whose lease has lapsed is yet to be taken, or was left by an invocation that was killed.
create table jobs (
  name         text primary key,
  holder       text,
  leased_until integer not null default 0
) strict, without rowid;

-- How large the database was on each day, to say when it will be full.
create table database_sizes (
  day   integer primary key, -- days since 1970, UTC
  bytes integer not null
) strict, without rowid;

-- Accounts and connections that are being deleted, drivers that are being erased, and copies of accounts that live in
-- another cell: how far that has come, so that whoever finds a row goes on with it. The row goes with the last step.
create table deletions (
  id            text primary key, -- of the account, connection or driver
  kind          text not null check (kind in ('account', 'connection', 'driver', 'copy')),
  account_id    text not null,
  connection_id text,             -- null for an account
  requested_at  integer not null,
  due_at        integer not null, -- not before then, nor again before then if it has failed
  step          text,             -- null until it has begun
  cursor        text not null default '', -- how far a step has come that looks through a table
  email         text,             -- of the driver, to be looked for
  problem       text              -- why its step failed, until that is done
) strict, without rowid;
create index deletions_by_account on deletions (account_id, kind);
create index deletions_due on deletions (due_at);

-- Accounts that move to another cell: a row in each of the two cells, until nothing is left of the move there. Jobs leave
-- these accounts out: usually there are none, so that nothing is read.
create table moves (
  account_id text primary key,
  state      text not null,
  move       text not null check (json_valid(move)) -- see src/operator/moves/part.ts
) strict, without rowid;

-- What accounts have asked to have exported. Its files lie in the bucket of the archive, in pieces.
create table exports (
  id           text primary key,
  account_id   text not null,
  requested_by text not null,                                          -- a user
  requested_at integer not null,
  wanted       text not null check (json_valid(wanted)),               -- lists, days and formats
  place        text not null default '{}' check (json_valid(place)),   -- how far it has come
  files        text not null default '[]' check (json_valid(files)),
  records      integer not null default 0,
  next_at      integer,                                                -- when to go on, or null: nothing is left to do
  finished_at  integer,                                                -- null: it is being prepared, or has failed
  expires_at   integer not null
) strict, without rowid;
create index exports_by_account on exports (account_id, requested_at, id);
create index exports_open on exports (next_at) where next_at is not null;
create index exports_by_expiry on exports (expires_at);
