-- The records that come in by connections.

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
create index trips_by_account on trips (account_id, started_at, id);
create index trips_by_connection on trips (connection_id, started_at, id);
create index trips_by_vehicle on trips (vehicle_id, started_at, id);
create index trips_by_driver on trips (driver_id, started_at, id) where driver_id is not null;

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
  updated_at                integer not null
) strict, without rowid;
create index safety_events_by_connection on safety_events (connection_id, started_at, id);
create index safety_events_by_vehicle on safety_events (vehicle_id, started_at, id);
create index safety_events_by_driver on safety_events (driver_id, started_at, id) where driver_id is not null;

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
  alerted            text check (json_valid(alerted)),      -- the users and channels to notify if it is a false alarm
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
  updated_at         integer not null
) strict, without rowid;
create index accidents_by_driver on accidents (driver_id, event_time, id) where driver_id is not null;
create index accidents_by_account on accidents (account_id, event_time, id);
create index accidents_by_connection on accidents (connection_id, event_time, id);
-- For the count in the menu, which reads no more than it counts.
create index accidents_open on accidents (account_id, event_time, id)
  where dismissed = 0 and notification_level < 3 and closed is null;

-- What changed, in the order in which the service learned it: a row for each transaction that changed records of a
-- connection, so that taking in 500 records writes one row more. `seq` is the time in milliseconds since 1970, or one
-- more than the last of the account if that is higher, taken inside the transaction: later transactions have higher
-- ones, and those of the last 30 days are a range of the key.
create table changes (
  account_id    text not null,
  seq           integer not null,
  lag           integer not null default 0, -- by how much it is ahead of the time that the new records have
  connection_id text not null,
  action        text not null check (action in ('changed', 'deleted')),
  records       text not null check (json_valid(records)), -- ids by kind: {"vehicle": ["…"], "trip": []}
  quiet         integer not null default 0,                -- 1: history, of which nobody is notified
  archived_day  integer,                                   -- where the archive has them: days since 1970, UTC
  usage         text not null default '[]' check (json_valid(usage)), -- what the account has added that day: [days since 1970, records, bytes, deliveries]
  primary key (account_id, seq)
) strict, without rowid;

-- What people look for by its beginning, as search_keys has it: the names of vehicles and drivers, in the order of the
-- alphabet, and as words the same from a further word on, and licence plates. Kept by triggers, which write only what
-- has changed: an index over columns would be written each time that a vehicle moves. A full-text index would be a
-- virtual table, and D1 exports no database that has one.
create table names (
  account_id text not null,
  kind       text not null check (kind in ('vehicle', 'vehicle word', 'driver', 'driver word')),
  name       text not null,
  id         text not null, -- of the vehicle or driver
  primary key (account_id, kind, name, id)
) strict, without rowid;
create trigger vehicle_added after insert on vehicles BEGIN insert into names select new.account_id, iif(key = 0, 'vehicle', 'vehicle word'), value, new.id from json_each(new.search_keys); END;
create trigger vehicle_renamed after update of search_keys on vehicles when old.search_keys is not new.search_keys BEGIN delete from names where (account_id, kind, name, id) in (select * from (select old.account_id, iif(key = 0, 'vehicle', 'vehicle word'), value, old.id from json_each(old.search_keys) except select new.account_id, iif(key = 0, 'vehicle', 'vehicle word'), value, new.id from json_each(new.search_keys))); insert into names select new.account_id, iif(key = 0, 'vehicle', 'vehicle word'), value, new.id from json_each(new.search_keys) except select old.account_id, iif(key = 0, 'vehicle', 'vehicle word'), value, old.id from json_each(old.search_keys); END;
create trigger vehicle_removed after delete on vehicles BEGIN delete from names where (account_id, kind, name, id) in (select old.account_id, iif(key = 0, 'vehicle', 'vehicle word'), value, old.id from json_each(old.search_keys)); END;
create trigger driver_added after insert on drivers BEGIN insert into names select new.account_id, iif(key = 0, 'driver', 'driver word'), value, new.id from json_each(new.search_keys); END;
create trigger driver_renamed after update of search_keys on drivers when old.search_keys is not new.search_keys BEGIN delete from names where (account_id, kind, name, id) in (select * from (select old.account_id, iif(key = 0, 'driver', 'driver word'), value, old.id from json_each(old.search_keys) except select new.account_id, iif(key = 0, 'driver', 'driver word'), value, new.id from json_each(new.search_keys))); insert into names select new.account_id, iif(key = 0, 'driver', 'driver word'), value, new.id from json_each(new.search_keys) except select old.account_id, iif(key = 0, 'driver', 'driver word'), value, old.id from json_each(old.search_keys); END;
create trigger driver_removed after delete on drivers BEGIN delete from names where (account_id, kind, name, id) in (select old.account_id, iif(key = 0, 'driver', 'driver word'), value, old.id from json_each(old.search_keys)); END;
