-- What the overview of the portal shows of safety events, counted so that a page reads a row for each day instead of
-- the events: their number by risk, by incident type, and, of risk 4 and 5, by vehicle and by driver. Hours are counted
-- from the events, days from their hours. Nothing is written when an event comes in while it happens: hours that are not
-- over for long are counted again by whoever looks. Whatever changes an earlier hour marks it, in the same transaction.

create table event_counts (
  account_id text not null,
  hours      integer not null check (hours in (1, 24)),
  start      integer not null, -- hours since 1970, UTC
  risk_1     integer not null,
  risk_2     integer not null,
  risk_3     integer not null,
  risk_4     integer not null,
  risk_5     integer not null,
  types      text not null check (json_valid(types)),    -- {"Speeding": 3}
  vehicles   text not null check (json_valid(vehicles)), -- by id, of risk 4 and of risk 5: {"…": [2, 1]}
  drivers    text not null check (json_valid(drivers)),
  -- The same by quarter of an hour, from 0 to 3, as {"2": {"risks": [0, 0, 1, 0, 0], "types": …}}, of hours only: where the
  -- days of a zone do not begin with an hour. In the row, because rows are what D1 bills.
  quarters   text not null default '{}' check (json_valid(quarters)),
  primary key (account_id, hours, start)
) strict, without rowid;

-- Up to when the events of an account have been counted: the beginning of an hour. The hours from the one before it on
-- are counted again each time, and need no marks.
create table event_counting (
  account_id text primary key,
  counted_to integer not null,
  live_at    integer not null default 0 -- when they were counted last, in seconds since 1970
) strict, without rowid;
create index event_counting_by_time on event_counting (counted_to);
create trigger account_counted after insert on accounts BEGIN insert into event_counting (account_id, counted_to) values (new.id, unixepoch() / 3600 * 3600000); END;

-- Hours that are to be counted again, as bits of their day.
create table event_counts_due (
  account_id text not null,
  day        integer not null, -- days since 1970, UTC
  hours      integer not null check (hours between 1 and 16777215),
  primary key (account_id, day)
) strict, without rowid;
-- The triggers mark the hour of an event unless it began within the last 58 minutes, or will within the next: those hours
-- are counted again anyway. Of what is older than half a year nothing is shown.
-- A day is counted before it is archived, and keeps its counts: deleting its rows then marks nothing.
create trigger event_came after insert on safety_events when new.started_at not between (unixepoch() - 3480) * 1000 and (unixepoch() + 3480) * 1000 and new.started_at > (unixepoch() - 180 * 86400) * 1000 BEGIN insert into event_counts_due (account_id, day, hours) values (new.account_id, new.started_at / 86400000, 1 << (new.started_at / 3600000 % 24)) on conflict (account_id, day) do update set hours = hours | excluded.hours where hours & excluded.hours = 0; END;
create trigger event_went after delete on safety_events when old.started_at not between (unixepoch() - 3480) * 1000 and (unixepoch() + 3480) * 1000 and old.started_at > (unixepoch() - 180 * 86400) * 1000 and not exists (select 1 from archived_days where account_id = old.account_id and kind = 'safety-events' and day = old.started_at / 86400000) BEGIN insert into event_counts_due (account_id, day, hours) values (old.account_id, old.started_at / 86400000, 1 << (old.started_at / 3600000 % 24)) on conflict (account_id, day) do update set hours = hours | excluded.hours where hours & excluded.hours = 0; END;
create trigger event_changed after update on safety_events when (old.started_at, old.event_risk, old.translated_incident_types, old.vehicle_id, old.driver_id, old.withdrawn) is not (new.started_at, new.event_risk, new.translated_incident_types, new.vehicle_id, new.driver_id, new.withdrawn) BEGIN insert into event_counts_due (account_id, day, hours) select old.account_id, old.started_at / 86400000, 1 << (old.started_at / 3600000 % 24) where old.started_at not between (unixepoch() - 3480) * 1000 and (unixepoch() + 3480) * 1000 and old.started_at > (unixepoch() - 180 * 86400) * 1000 on conflict (account_id, day) do update set hours = hours | excluded.hours where hours & excluded.hours = 0; insert into event_counts_due (account_id, day, hours) select new.account_id, new.started_at / 86400000, 1 << (new.started_at / 3600000 % 24) where new.started_at not between (unixepoch() - 3480) * 1000 and (unixepoch() + 3480) * 1000 and new.started_at > (unixepoch() - 180 * 86400) * 1000 on conflict (account_id, day) do update set hours = hours | excluded.hours where hours & excluded.hours = 0; END;
