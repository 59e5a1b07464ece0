/** The incident types, with the risk of each when the provider gives none. */
export const defaultRisks = {
  Crash: 5,
  'Near Crash': 4,
  'Harsh Braking': 3,
  'Harsh Acceleration': 2,
  'Hard Cornering': 2,
  Speeding: 3,
  Tailgating: 3,
  'Forward Collision Warning': 3,
  'Phone Usage': 4,
  Distraction: 4,
  Drowsiness: 4,
  Smoking: 2,
  'Eating Or Drinking': 2,
  'Seat Belt Violation': 3,
  'Stop Sign Violation': 3,
  'Rolling Stop': 2,
  'Red Light Violation': 4,
  'Railroad Crossing Violation': 4,
  'Failure To Yield': 3,
  'Unsafe Lane Change': 3,
  'Lane Departure': 3,
  'Unsafe Maneuver': 3,
  'Stability Control': 3,
  'Vulnerable Road User': 4,
  'Camera Obstruction': 1,
  'Unsafe Parking': 2,
  Reversing: 1,
  Idling: 1,
  Other: 1,
} as const;
export type IncidentType = keyof typeof defaultRisks;

export const incidentTypes = Object.keys(defaultRisks) as IncidentType[]; // the keys are exactly these

/** Ignores case, spaces, `_` and `-`. */
export const plain = (word: string): string =>
  word.toLowerCase().replace(/[\s_\p{Default_Ignorable_Code_Point}-]/gu, '');

const byPlainName = new Map(incidentTypes.map((type) => [plain(type), type]));

/** The incident type with this name, in any spelling. */
export const incidentTypeOf = (name: string): IncidentType | undefined =>
  byPlainName.get(plain(name));

export const isIncidentType = (name: string): boolean => incidentTypeOf(name) !== undefined;
