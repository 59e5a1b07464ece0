/**
 * What options look at in a notification: an event has a risk and types, an accident has a level above 0. What it does
 * not have holds nothing back.
 */
export type Filterable = {
  level: number;
  eventRisk?: number | undefined;
  translatedIncidentTypes?: readonly string[] | undefined;
  /** The keys of its vehicle's groups; undefined if the vehicle is unknown. */
  groupKeys?: readonly string[] | undefined;
};
