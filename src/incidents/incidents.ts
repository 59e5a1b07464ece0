/** The normalised incident types, with the risk of each when the provider gives none (design 8). */
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

/** What one word of a provider means: types, and how much its severity adds to their risk. */
type Meaning = { types: IncidentType[]; raise: number };

const means = (types: IncidentType | IncidentType[], raise = 0): Meaning => ({
  types: Array.isArray(types) ? types : [types],
  raise,
});
const noIncident: Meaning = { types: [], raise: 0 };

const providers: Record<string, Record<string, Meaning>> = {
  samsara: {
    Acceleration: means('Harsh Acceleration'),
    Braking: means('Harsh Braking'),
    HarshTurn: means('Hard Cornering'),
    Crash: means('Crash'),
    NearCollison: means('Near Crash'),
    NearCollision: means('Near Crash'),
    NearPedestrianCollision: means(['Near Crash', 'Vulnerable Road User']),
    FollowingDistance: means('Tailgating'),
    FollowingDistanceModerate: means('Tailgating', 1),
    FollowingDistanceSevere: means('Tailgating', 2),
    GenericTailgating: means('Tailgating'),
    ForwardCollisionWarning: means('Forward Collision Warning'),
    RearCollisionWarning: means('Near Crash', -1),
    LightSpeeding: means('Speeding', -1),
    ModerateSpeeding: means('Speeding'),
    HeavySpeeding: means('Speeding', 1),
    SevereSpeeding: means('Speeding', 2),
    MaxSpeed: means('Speeding'),
    MobileUsage: means('Phone Usage'),
    GenericDistraction: means('Distraction'),
    EdgeDistractedDriving: means('Distraction'),
    Drowsy: means('Drowsiness'),
    Drinking: means('Eating Or Drinking'),
    Eating: means('Eating Or Drinking'),
    Smoking: means('Smoking'),
    NoSeatbelt: means('Seat Belt Violation'),
    ObstructedCamera: means('Camera Obstruction'),
    RanRedLight: means('Red Light Violation'),
    RollingStop: means('Rolling Stop'),
    DidNotYield: means('Failure To Yield'),
    EdgeRailroadCrossingViolation: means('Railroad Crossing Violation'),
    LaneDeparture: means('Lane Departure'),
    UnsafeManeuver: means('Unsafe Maneuver'),
    AggressiveDriving: means('Unsafe Maneuver', 1),
    UTurn: means('Unsafe Maneuver'),
    Reversing: means('Reversing'),
    Idling: means('Idling'),
    UnsafeParking: means('Unsafe Parking'),
    RolloverProtection: means('Stability Control', 1),
    YawControl: means('Stability Control'),
    VehicleInBlindSpotWarning: means('Unsafe Lane Change', -1),
    VulnerableRoadUserCollisionWarning: means(['Vulnerable Road User', 'Forward Collision Warning']),
    DefensiveDriving: noIncident,
    Invalid: noIncident,
  },
  motive: {
    hard_accel: means('Harsh Acceleration'),
    hard_brake: means('Harsh Braking'),
    hard_corner: means('Hard Cornering'),
    crash: means('Crash'),
    seat_belt_violation: means('Seat Belt Violation'),
    tailgating: means('Tailgating'),
    cell_phone: means('Phone Usage'),
    stop_sign_violation: means('Stop Sign Violation'),
    distraction: means('Distraction'),
    unsafe_lane_change: means('Unsafe Lane Change'),
    drowsiness: means('Drowsiness'),
    road_facing_cam_obstruction: means('Camera Obstruction'),
    driver_facing_cam_obstruction: means('Camera Obstruction'),
    forward_collision_warning: means('Forward Collision Warning'),
    manual_event: means('Other'),
  },
  terminal: {
    harsh_brake: means('Harsh Braking'),
    harsh_acceleration: means('Harsh Acceleration'),
    harsh_turn: means('Hard Cornering'),
    speeding: means('Speeding'),
    crash: means('Crash'),
    near_crash: means('Near Crash'),
    tailgating: means('Tailgating'),
    cell_phone: means('Phone Usage'),
    distracted: means('Distraction'),
    drowsiness: means('Drowsiness'),
    smoking: means('Smoking'),
    seat_belt_violation: means('Seat Belt Violation'),
    stop_sign_violation: means('Stop Sign Violation'),
    red_light_violation: means('Red Light Violation'),
    unsafe_lane_change: means('Unsafe Lane Change'),
    camera_obstruction: means('Camera Obstruction'),
    eating_and_drinking: means('Eating Or Drinking'),
    rolling_stop: means('Rolling Stop'),
    unsafe_parking: means('Unsafe Parking'),
  },
  otapi: {
    ROLL_STABILITY: means('Stability Control'),
    SUDDEN_START: means('Harsh Acceleration'),
    SUDDEN_STOP: means('Harsh Braking'),
    COLLISION: means('Crash'),
    ONBOARD_RECORDING: means('Other'),
  },
};

/** Upper and lower case, spaces, `_` and `-` make no difference between words. */
export const plain = (word: string): string => word.toLowerCase().replace(/[\s_-]/g, '');

const byPlainWord = (table: Record<string, Meaning>): Map<string, Meaning> =>
  new Map(Object.entries(table).map(([word, meaning]) => [plain(word), meaning]));

const generic = byPlainWord(Object.fromEntries(incidentTypes.map((type) => [type, means(type)])));
const tables = new Map(Object.entries(providers).map(([name, table]) => [name, byPlainWord(table)]));

/** True for a normalised incident type in any spelling. */
export const isIncidentType = (name: string): boolean => generic.has(plain(name));

/** A connection's feed: whose words it speaks, and the connection's own map, which wins (design 8). */
export type Feed = { provider: string; incidentTypeMap?: Record<string, string[]> | undefined };

/**
 * Translates a provider's words into normalised incident types, without repeats, and into a risk from 1 to
 * 5: the highest among them. Words that nothing maps are `Other`; nothing is ever dropped but labels that
 * are no incident, and those only when something else remains.
 */
export function normaliseIncidents(
  feed: Feed,
  words: readonly string[],
): { types: IncidentType[]; risk: number } {
  const meanings = words.map((word) => meaningOf(feed, word)).filter((meaning) => meaning.types.length > 0);
  if (meanings.length === 0) return { types: ['Other'], risk: defaultRisks.Other };
  const risks = meanings.map(
    ({ types, raise }) => Math.max(...types.map((type) => defaultRisks[type])) + raise,
  );
  return {
    types: [...new Set(meanings.flatMap((meaning) => meaning.types))],
    risk: Math.min(5, Math.max(1, ...risks)),
  };
}

function meaningOf(feed: Feed, word: string): Meaning {
  const own = feed.incidentTypeMap && Object.hasOwn(feed.incidentTypeMap, word) && feed.incidentTypeMap[word];
  if (own) return means(own.flatMap((name) => generic.get(plain(name))?.types ?? 'Other'));
  const key = plain(word);
  if (feed.provider === 'samsara' && key.startsWith('context')) return noIncident;
  return tables.get(feed.provider)?.get(key) ?? generic.get(key) ?? means('Other');
}
