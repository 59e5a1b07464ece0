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
  created_at        integer not null,
  updated_at        integer not null
) strict, without rowid;
create index drivers_by_account on drivers (account_id, created_at, id);
create index drivers_by_connection on drivers (connection_id, created_at, id);

create table trips (
  id                text primary key,
  account_id        text not null,
  connection_id     text not null references connections (id),
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

create index vehicles_by_vin on vehicles (vin, created_at, id) where vin is not null;
create index safety_events_by_vehicle on safety_events (vehicle_id, started_at, id);
create index safety_events_by_driver on safety_events (driver_id, started_at, id) where driver_id is not null;
