/**
 * How many bytes the texts of a row can have in a dump of the database, where each `'` is written twice: D1 restores no
 * statement of more than 100,000 bytes. By column, in all tables or in those named.
 */
export const longTexts: { [column: string]: number | { [table: string]: number } } = {
  incident_type_map: 32 * 1024,
  // Names and addresses of 200 characters, keys of six words, reasons, URLs without `'`.
  search_keys: 3_000,
  groups: { mail_rules: 30_500, vehicles: 600 },
  group_keys: { mail_rules: 30_500, vehicles: 1_000 },
  last_location: 1_000,
  start_location: 1_000,
  end_location: 1_000,
  location: 1_000,
  incident_types: 2_000,
  report_url: 6_000,
  acknowledged: 2_500,
  closed: 2_500,
  note: 2_100,
  records: 20_000,
  types: 4_000,
  vehicles: 6_000,
  drivers: 6_000,
  quarters: 8_000,
  url: 2_100,
  normalised_url: 2_100,
  headers: 11_500,
  options: 61_000,
  issuer: 1_600,
  client_id: 1_600,
  secret: 17_000,
  data: 16_000,
  log: 60_000,
  notifications: 50_000,
  response_times: 5_000,
  waits: 5_000,
  address: 4_000,
  items: 80_000,
  recipients: 16_000,
  secrets: 17_000,
  rejected: 35_000,
  warned: 45_000,
  days: 2_500,
  session: 6_000,
  feeds: 64_000,
  parts: 90_000,
  reason: 3_000,
  cursor: 3_000,
  result: 20_000,
  wanted: 3_000,
  place: 3_000,
  files: 4_000,
  move: 8_000,
  connection_ids: 4_000,
  source: 12_000,
  upload: 16_000,
  opened: 40_000,
};

/** Texts of at most this many bytes: ids, names of up to 200 characters and the like. */
export const shortText = 800;
export const shortTexts = new Set(
  `id name status cell units quotas usage account_id provider tsp external_id connection_id scope hash form last_four email role time_zone
  recipient_id event_id user_id actor actor_id actor_name action subject subject_id subject_name fields source_id vin make
  model fuel_type license_plate phone license_state license_number vehicle_id driver_id translated_incident_types
  vehicle_name vehicle_vin vehicle_groups trip_id named_vehicle_id levels driver_name assigned_to summary_zone severity kind http_verb
  description webhook_id request_id expanded_to last_failure host problem webhook_secret credential_hash base_url
  organisation organisation_id domain link_user_id claim holder step state requested_by run links_at
  accident_id camera content_type sha256 lane`.split(/\s+/),
);

/** How many bytes a text of a table can have; undefined if that is not known. */
export function boundOf(table: string, column: string): number | undefined {
  const long = longTexts[column];
  if (typeof long === 'number') return long;
  return long?.[table] ?? (shortTexts.has(column) ? shortText : undefined);
}
