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
