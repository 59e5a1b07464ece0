-- Who created, changed or deleted what in an account, and when. `seq` numbers the entries of an account in the order in
-- which they were committed. A row is written in the transaction of the change that it tells of.
create table audit_log (
  account_id   text not null,
  seq          integer not null,
  at           integer not null,
  actor        text not null check (actor in ('operator', 'person', 'token', 'service')),
  actor_id     text,          -- the person's or the token's
  actor_name   text,          -- as it was then: a person's address, a token's name
  action       text not null,
  subject      text not null, -- the kind of thing
  subject_id   text not null,
  subject_name text,          -- as it was then; of a webhook, the host alone
  fields       text not null default '[]' check (json_valid(fields)), -- what was changed, by name
  primary key (account_id, seq)
) strict, without rowid;
create index audit_log_by_time on audit_log (at);

-- Accounts and connections that are being deleted, and drivers that are being erased: how far that has come, so that
-- whoever finds a row goes on with it. The row goes with the last step.
create table deletions (
  id            text primary key, -- of the account, connection or driver
  kind          text not null check (kind in ('account', 'connection', 'driver')),
  account_id    text not null,
  connection_id text,             -- null for an account
  requested_at  integer not null,
  due_at        integer not null, -- not before then
  step          text,             -- null until it has begun
  cursor        text not null default '', -- how far a step has come that looks through a table
  email         text              -- of the driver, to be looked for
) strict, without rowid;
create index deletions_by_account on deletions (account_id, kind);
create index deletions_due on deletions (due_at);

-- Drivers that were erased, by the id that their records would have: what comes in later brings nobody back.
create table erased_drivers (
  id            text primary key,
  account_id    text not null,
  connection_id text not null,
  erased_at     integer not null
) strict, without rowid;
create index erased_drivers_by_connection on erased_drivers (connection_id);

-- While an account waits to be deleted, its webhooks are called no more.
alter table webhooks add column stopped_at integer;

-- Nobody's account: connections belong to it from the moment that their deletion begins, so that whoever asks for those
-- of an account does not find them.
insert into accounts (id, name, status, created_at)
values ('00000000-0000-0000-0000-000000000000', 'Nobody', 'suspended', 0);
