-- The user of the account who takes care of an accident, by address.
alter table accidents add column assigned_to text;
