-- What accounts have asked to have exported. Its files lie in the bucket of the archive, in pieces.
create table exports (
  id           text primary key,
  account_id   text not null,
  requested_by text not null,                                          -- a user, or an API token
  -- The only connections that it has, if that token is limited to some.
  connection_ids text check (connection_ids is null or json_valid(connection_ids)),
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
