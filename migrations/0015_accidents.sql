-- One row for each accident, with its levels as [{"notificationLevel", "receivedAt"}]. It says which of them have been
-- told, so that notifications of accidents can be deleted as others are. The code before this one goes on working: it
-- neither reads nor writes the table.
create table accidents (
  id                 text primary key, -- the eventId of its notifications
  account_id         text not null,
  connection_id      text not null references connections (id),
  tsp                text not null,
  vin                text not null,
  vehicle_id         text,
  event_time         integer not null,
  location           text not null check (json_valid(location)),
  notification_level integer not null check (notification_level between 1 and 3), -- the highest
  report_ready       integer not null check (report_ready in (0, 1)),
  is_accurate        integer not null check (is_accurate in (0, 1)),
  dismissed          integer not null check (dismissed in (0, 1)),
  report_url         text,
  levels             text not null check (json_valid(levels)),
  told               integer not null check (told between 0 and 7), -- bits: 1 level 1, 2 level 2, 4 level 3
  source_updated_at  integer,
  created_at         integer not null,
  updated_at         integer not null
) strict, without rowid;
create index accidents_by_account on accidents (account_id, event_time, id);
create index accidents_by_connection on accidents (connection_id, event_time, id);

-- The accidents so far, as their highest level has them. Ids of version 7 are those of simulated ones.
insert into accidents (id, account_id, connection_id, tsp, vin, vehicle_id, event_time, location, notification_level,
  report_ready, is_accurate, dismissed, levels, told, created_at, updated_at)
select n.event_id, n.account_id, n.connection_id, n.data->>'tSP', n.data->>'vin',
  coalesce(
    (select id from vehicles where vin = n.data->>'vin' and connection_id = n.connection_id
      order by created_at limit 1),
    (select id from vehicles where vin = n.data->>'vin' and account_id = n.account_id
      order by created_at limit 1)),
  cast(round(unixepoch(n.data->>'eventTime', 'subsec') * 1000) as integer),
  n.data->'location', n.level, n.data->>'reportReady', n.data->>'isAccurate', 0,
  (select json_group_array(json_object('notificationLevel', level, 'receivedAt',
      strftime('%Y-%m-%dT%H:%M:%S', created_at / 1000, 'unixepoch') || format('.%03dZ', created_at % 1000)))
    from (select level, created_at from notifications where event_id = n.event_id order by level)),
  a.told, a.created_at, a.updated_at
from (
  select event_id, max(level) as level, sum(1 << (level - 1)) as told, min(created_at) as created_at,
    max(created_at) as updated_at
  from notifications where type = 1 and substr(event_id, 15, 1) <> '7' group by event_id) a
join notifications n on n.event_id = a.event_id and n.level = a.level;
