-- What people look for by its beginning: names of vehicles and drivers, and licence plates, in the order of the alphabet,
-- where A is a. Kept by triggers, which write only when one of them changes: an index over these columns would be
-- written each time that a vehicle moves. The code before this one goes on working: it knows nothing of the table.
create table names (
  account_id text not null,
  kind       text not null check (kind in ('vehicle', 'plate', 'driver')),
  name       text not null collate nocase,
  id         text not null, -- of the vehicle or driver
  primary key (account_id, kind, name, id)
) strict, without rowid;

create trigger vehicle_added after insert on vehicles begin
  insert into names values (new.account_id, 'vehicle', new.name, new.id);
  insert into names select new.account_id, 'plate', new.license_plate, new.id where new.license_plate is not null;
end;
create trigger vehicle_renamed after update of name on vehicles when old.name is not new.name begin
  delete from names where account_id = old.account_id and kind = 'vehicle' and name = old.name and id = old.id;
  insert into names values (new.account_id, 'vehicle', new.name, new.id);
end;
create trigger vehicle_plated after update of license_plate on vehicles
  when old.license_plate is not new.license_plate begin
  delete from names where account_id = old.account_id and kind = 'plate' and name = old.license_plate and id = old.id;
  insert into names select new.account_id, 'plate', new.license_plate, new.id where new.license_plate is not null;
end;
create trigger vehicle_removed after delete on vehicles begin
  delete from names where account_id = old.account_id and kind = 'vehicle' and name = old.name and id = old.id;
  delete from names where account_id = old.account_id and kind = 'plate' and name = old.license_plate and id = old.id;
end;

create trigger driver_added after insert on drivers begin
  insert into names values (new.account_id, 'driver', new.name, new.id);
end;
create trigger driver_renamed after update of name on drivers when old.name is not new.name begin
  delete from names where account_id = old.account_id and kind = 'driver' and name = old.name and id = old.id;
  insert into names values (new.account_id, 'driver', new.name, new.id);
end;
create trigger driver_removed after delete on drivers begin
  delete from names where account_id = old.account_id and kind = 'driver' and name = old.name and id = old.id;
end;

insert into names select account_id, 'vehicle', name, id from vehicles;
insert into names select account_id, 'plate', license_plate, id from vehicles where license_plate is not null;
insert into names select account_id, 'driver', name, id from drivers;
