-- Which days of a connection lie in the archive, so that reading them needs no look into the bucket's folders. While a
-- day is 'writing' its records are in D1 alone; from 'moving' on the archive has them all, and D1 what it has yet to
-- delete, or what came in since. `parts` are its files, in order.
create table archived_days (
  kind          text not null,
  account_id    text not null,
  connection_id text not null references connections (id),
  day           integer not null, -- days since 1970, UTC
  state         text not null check (state in ('writing', 'moving', 'done')),
  parts         text not null check (json_valid(parts)),
  primary key (kind, connection_id, day)
) strict, without rowid;
create index archived_days_by_account on archived_days (account_id, kind, day, connection_id);
create index archived_days_open on archived_days (kind, connection_id, day) where state <> 'done';

-- Where to find archived records that changed in the last 31 days, for who has their ids alone.
create table archived_lately (
  kind          text not null,
  id            text not null,
  account_id    text not null,
  connection_id text not null references connections (id),
  day           integer not null, -- days since 1970, UTC
  changed_at    integer not null,
  primary key (kind, id)
) strict, without rowid;
create index archived_lately_by_age on archived_lately (changed_at);
create index archived_lately_by_owner on archived_lately (account_id, connection_id);

-- Who may change the archive now: one at a time.
create table archive_turns (
  id     integer primary key check (id = 1),
  holder text not null,
  until  integer not null
) strict, without rowid;

-- How large the database was on each day, to say when it will be full.
create table database_sizes (
  day   integer primary key, -- days since 1970, UTC
  bytes integer not null
) strict, without rowid;
