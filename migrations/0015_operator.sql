-- What the last sweep found, so that `/health` reads one row. The first must have run ten minutes after the first deploy.
create table sweeps (
  id            integer not null primary key check (id = 1),
  at            integer not null,
  oldest_due_at integer -- since when the oldest delivery has been due that nobody works for
) strict;
insert into sweeps (id, at) values (1, (unixepoch() + 600) * 1000);

-- How large the database was on each day, to say when it will be full.
create table database_sizes (
  day   integer primary key, -- days since 1970, UTC
  bytes integer not null
) strict, without rowid;
