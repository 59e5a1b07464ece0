-- The core: accounts and who may act for them, the records that come in by connections, and the work of jobs. An extra has
-- a file of its own. In all files: times are milliseconds since 1970,
-- UTC, and ids are UUIDs.
-- Migrations are written by hand, because Drizzle writes neither WITHOUT ROWID nor triggers nor why an index exists. A
-- test compares them with the tables that are declared in Drizzle.

create table accounts (
  id         text primary key,
  name       text not null,
  status     text not null default 'active' check (status in ('active', 'suspended', 'moving', 'moved')),
  created_at integer not null,
  cell       text,                      -- where it is, if it has moved to another cell: this row stays behind
  units      text not null default 'metric' check (units in ('metric', 'imperial')), -- as its users chose for the portal
  quotas     text not null default '{}' check (json_valid(quotas)), -- what it may add a day, where operators have set that
  held       integer not null default 0 -- 1: it adds most to a database that is nearly full, and may not for now
) strict, without rowid;
create index accounts_by_time on accounts (created_at, id);
-- For a credential that is unknown here, because its account may have moved.
create index accounts_moved on accounts (cell) where status = 'moved';

-- Nobody's account: connections belong to it from the moment that their deletion begins, so that whoever asks for those
-- of an account does not find them.
insert into accounts (id, name, status, created_at)
values ('00000000-0000-0000-0000-000000000000', 'Nobody', 'suspended', 0);

-- A connection to a provider: a source of records of one account. It stands before what refers to it, or what `wrangler
-- d1 export` writes could not be restored.
create table connections (
  id                text primary key,
  account_id        text not null references accounts (id),
  name              text,
  provider          text not null,
  tsp               text not null, -- the name of the provider, as receivers see it
  health_status     integer not null default 1 check (health_status between 1 and 4),
  incident_type_map text check (json_valid(incident_type_map)),
  created_at        integer not null,
  updated_at        integer not null,
  last_pulled_at    integer,       -- written every few minutes at most while all goes well, null if it never pulled
  silent_since      integer,       -- of one that a connector feeds: since when it is known to be silent
  external_id       text,          -- the account's own identifier
  notifies_nobody   integer not null default 0 check (notifies_nobody in (0, 1)), -- as its account wants it: no warning
  held_back         integer not null default 0, -- safety events that were too old for notifications when they came in
  held_back_at      integer        -- when that last happened
) strict, without rowid;
create unique index connections_by_external on connections (account_id, external_id) where external_id is not null;
create index connections_by_account on connections (account_id, created_at, id);
-- For the count in the menu, which reads no more than it counts.
create index connections_with_problems on connections (account_id, created_at, id) where health_status <> 1;

-- API tokens (no connection) and ingest keys (one connection) alike. The value itself is kept nowhere.
create table tokens (
  id            text primary key,
  account_id    text not null references accounts (id),
  connection_id text references connections (id),
  scope         text not null check (scope in ('api', 'ingest')),
  read_only     integer not null default 0 check (read_only in (0, 1)),
  name          text not null,
  hash          text not null,
  last_four     text not null,
  created_at    integer not null,
  expires_at    integer,
  last_used_at  integer,
  revoked_at    integer,
  connection_ids text check (connection_ids is null or scope = 'api'), -- that it is limited to, as JSON, or null: all
  check ((scope = 'ingest') = (connection_id is not null))
) strict, without rowid;
create unique index tokens_by_hash on tokens (hash);
create index tokens_by_account on tokens (account_id, created_at, id);
-- Lists and limits of credentials read those that are active, however many have been revoked.
create index tokens_active on tokens (account_id, scope, created_at, id) where revoked_at is null;
create index tokens_active_by_connection on tokens (connection_id, created_at, id) where revoked_at is null;
-- For deleting a connection, whose row these refer to.
create index tokens_by_connection on tokens (connection_id) where connection_id is not null;
-- For deleting what is over, without reading what is not.
create index tokens_by_expiry on tokens (expires_at) where expires_at is not null;
create index tokens_by_revocation on tokens (revoked_at) where revoked_at is not null;

-- Who created, changed or deleted what in an account, and when. `seq` numbers the entries of an account in the order in
-- which they were committed. A row is written in the transaction of the change that it records.
create table audit_log (
  account_id   text not null,
  seq          integer not null,
  at           integer not null,
  actor        text not null check (actor in ('operator', 'person', 'token', 'service')),
  actor_id     text,          -- of the user or token
  actor_name   text,          -- as it was then: the address of a user, the name of a token
  action       text not null,
  subject      text not null, -- the kind of thing
  subject_id   text not null,
  subject_name text,          -- as it was then (of a webhook, the host alone)
  fields       text not null default '[]' check (json_valid(fields)), -- what was changed, by name
  primary key (account_id, seq)
) strict, without rowid;
create index audit_log_by_time on audit_log (at);
-- Who created an API token: an entry of this index is written with a new token alone.
create index audit_log_new_tokens on audit_log (subject_id) where subject = 'API token' and action = 'created';

create table vehicles (
  id                text primary key,
  account_id        text not null,
  connection_id     text not null references connections (id),
  source_id         text not null,
  name              text not null,
  vin               text,
  groups            text not null check (json_valid(groups)),
  group_keys        text check (json_valid(group_keys)), -- as they are compared, if lower(groups) is not
  status            text not null check (status in ('active', 'inactive')),
  make              text,
  model             text,
  year              integer,
  fuel_type         text,
  license_plate     text,
  odometer_km       real,
  last_location     text check (json_valid(last_location)),
  external_id       text, -- the account's own identifier: no record sets it
  source_updated_at integer,
  search_keys       text not null check (json_valid(search_keys)), -- what people find it by, in names
  created_at        integer not null,
  updated_at        integer not null
) strict, without rowid;
create index vehicles_by_connection on vehicles (connection_id, created_at, id);
create index vehicles_by_vin on vehicles (account_id, vin, created_at, id) where vin is not null;
create unique index vehicles_by_external on vehicles (account_id, external_id) where external_id is not null;

create table drivers (
  id                text primary key,
  account_id        text not null,
  connection_id     text not null references connections (id),
  source_id         text not null,
  name              text not null,
  email             text,
  phone             text,
  license_state     text,
  license_number    text,
  status            integer not null check (status in (0, 1)),
  source_updated_at integer,
  search_keys       text not null check (json_valid(search_keys)), -- what people find it by, in names
  created_at        integer not null,
  updated_at        integer not null
) strict, without rowid;
create index drivers_by_account on drivers (account_id, created_at, id);
create index drivers_by_connection on drivers (connection_id, created_at, id);

-- Drivers that were erased, by the id that their records would have: what comes in later brings nobody back.
create table erased_drivers (
  id            text primary key,
  account_id    text not null,
  connection_id text not null,
  erased_at     integer not null
) strict, without rowid;
create index erased_drivers_by_connection on erased_drivers (connection_id);

-- Trips and safety events have no foreign key, which would need an index: see src/docs/contributing/design-notes.md.
create table trips (
  id                text primary key,
  account_id        text not null,
  connection_id     text not null,
  source_id         text not null,
  vehicle_id        text not null,
  driver_id         text,
  started_at        integer not null,
  ended_at          integer,
  start_location    text check (json_valid(start_location)),
  end_location      text check (json_valid(end_location)),
  distance_km       real,
  duration_seconds  real,
  source_updated_at integer,
  created_at        integer not null,
  updated_at        integer not null
) strict, without rowid;
-- These begin with the end of an id, a sixth of its bytes, because trips and events fill the database: those who read
-- them compare both. See src/core/platform/db/pages.ts.
create index trips_by_account on trips (unhex(substr(account_id, -12)), started_at, id);
create index trips_by_connection on trips (unhex(substr(connection_id, -12)), started_at, id);
create index trips_by_vehicle on trips (unhex(substr(vehicle_id, -12)), started_at, id);
create index trips_by_driver on trips (unhex(substr(driver_id, -12)), started_at, id) where driver_id is not null;

-- The name of the provider, and the name, VIN and groups of the vehicle, are kept as they were when the event came in.
create table safety_events (
  id                        text primary key,
  account_id                text not null,
  connection_id             text not null,
  source_id                 text not null,
  tsp                       text not null,
  incident_types            text not null check (json_valid(incident_types)),
  translated_incident_types text not null check (json_valid(translated_incident_types)),
  event_risk                integer not null check (event_risk between 1 and 5),
  issued_on                 integer not null,
  started_at                integer not null,
  ended_at                  integer,
  location                  text check (json_valid(location)),
  vehicle_id                text not null,
  vehicle_name              text not null,
  vehicle_vin               text,
  vehicle_groups            text not null check (json_valid(vehicle_groups)),
  driver_id                 text,
  trip_id                   text,
  max_speed_kph             real,
  speed_limit_kph           real,
  source_updated_at         integer,
  created_at                integer not null,
  updated_at                integer not null,
  recipients                text check (json_valid(recipients)), -- null if there are none
  withdrawn                 integer check (withdrawn in (0, 1)) -- whether the provider has withdrawn it
) strict, without rowid;
-- They begin as those of trips do.
create index safety_events_by_connection on safety_events (unhex(substr(connection_id, -12)), started_at, id);
create index safety_events_by_vehicle on safety_events (unhex(substr(vehicle_id, -12)), started_at, id);
create index safety_events_by_driver on safety_events (unhex(substr(driver_id, -12)), started_at, id)
  where driver_id is not null;
-- The withdrawn ones alone, so that others cost nothing.
create index safety_events_withdrawn on safety_events (id) where withdrawn = 1;

-- One row for each accident, with its levels as [{"notificationLevel", "receivedAt"}]. It says which of them have been
-- notified, so that notifications of accidents can be deleted as others are.
create table accidents (
  id                 text primary key, -- the eventId of its notifications
  account_id         text not null,
  connection_id      text not null references connections (id),
  tsp                text not null,
  vin                text not null, -- empty if it is not known
  vehicle_id         text,          -- as decided at the last level: see src/core/fleet/accidents/vehicle.ts
  named_vehicle_id   text,          -- as the provider names it, whether or not it is known
  event_time         integer not null,
  location           text not null check (json_valid(location)),
  notification_level integer not null check (notification_level between 1 and 3), -- the highest
  report_ready       integer not null check (report_ready in (0, 1)),
  is_accurate        integer not null check (is_accurate in (0, 1)),
  dismissed          integer not null check (dismissed in (0, 1)),
  report_url         text,
  levels             text not null check (json_valid(levels)),
  notified           integer not null check (notified between 0 and 7), -- bits 1, 2 and 4 of level 1, 2 and 3
  source_updated_at  integer,
  acknowledged       text check (json_valid(acknowledged)), -- by a user of the account: {"at", "by", "note"}
  closed             text check (json_valid(closed)),
  -- What a claim needs besides, as far as it is known. The names are as they were when it was reported.
  vehicle_name       text,
  license_plate      text,
  driver_id          text,
  driver_name        text,
  max_speed_kph      real,
  acceleration_g     real,
  severity           text,
  detected_at        integer,
  created_at         integer not null,
  updated_at         integer not null,
  source_id          text,          -- what the provider calls it
  assigned_to        text,          -- the user of the account who takes care of it, by address
  note               text          -- theirs
) strict, without rowid;
create index accidents_by_driver on accidents (driver_id, event_time, id) where driver_id is not null;
create index accidents_by_account on accidents (account_id, event_time, id);
create index accidents_by_connection on accidents (connection_id, event_time, id);
-- Those that need attention: nobody has acknowledged or closed them, at whatever level they are. For the count in the
-- menu, which reads no more than it counts.
create index accidents_unattended on accidents (account_id, event_time, id)
  where dismissed = 0 and acknowledged is null and closed is null;

-- What changed, in the order in which the service learned it: a row for each transaction that changed records of a
-- connection, so that taking in 500 records writes one row more. `seq` is the time in milliseconds since 1970, or one
-- more than the last of the account if that is higher, taken inside the transaction: later transactions have higher
-- ones, and those of the last 30 days are a range of the key.
create table changes (
  account_id    text not null,
  seq           integer not null,
  lag           integer not null default 0, -- by how much it is ahead of the time that the new records have
  connection_id text not null,
  request_id    text,                       -- before what is long, so that reading it reads one page
  action        text not null check (action in ('changed', 'deleted')),
  quiet         integer not null default 0, -- 1: history, of which nobody is notified
  archived_day  integer,                    -- where the archive has them: days since 1970, UTC
  usage         text not null default '[]' check (json_valid(usage)), -- what the account has added that day: [days since 1970, records, bytes, deliveries]
  records       text not null check (json_valid(records)), -- ids by kind: {"vehicle": ["…"], "trip": []}
  primary key (account_id, seq)
) strict, without rowid;

-- Jobs that run, or wait to be run, and other work that one at a time may do. A row is deleted when the work is done.
-- One whose lease has lapsed is yet to be taken, or was left by an invocation that was killed.
create table jobs (
  name         text primary key,
  holder       text,
  leased_until integer not null default 0
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
