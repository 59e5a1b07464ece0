-- Accounts on their way to another home. The old home has a row of it, and so has the new one.
create table moves (
  account_id    text primary key,
  role          text not null check (role in ('leaving', 'arriving')),
  home          text not null,              -- where it goes, or comes from
  state         text not null,
  gate          text not null default '',   -- who may write: '' all, 'drain' all but new claims, '-' nobody, or a table
  turn          integer not null default 0, -- of those who work on it; only the last one's writes count
  claimed_until integer not null default 0,
  cursor        text not null default '{}', -- how far it has come
  total         integer not null default 0, -- rows to copy, and copied
  copied        integer not null default 0,
  refused_ms    integer not null default 0, -- for how long writes have been refused
  frozen_at     integer,                    -- since when they are
  problem       text,
  was_here      integer not null default 0, -- of one that arrives: whether it has lived here before
  started_at    integer not null
) strict, without rowid;

-- Rows of accounts that leave which have changed since they were copied. Triggers write it, while the account moves.
create table moved_rows (
  id         integer not null primary key autoincrement,
  account_id text not null,
  table_name text not null,
  key        text not null check (json_valid(key))
) strict;
create index moved_rows_by_account on moved_rows (account_id, id);
