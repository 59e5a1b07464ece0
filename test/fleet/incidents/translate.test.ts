import { describe, expect, it } from 'vitest';
import { normaliseIncidents } from '../../../src/fleet/incidents/translate.ts';
import { defaultRisks, incidentTypes } from '../../../src/fleet/incidents/types.ts';

/** Every word of every provider that the service claims to know, with what becomes of it. */
const table: [provider: string, word: string, types: string, risk: number][] =
  `samsara Acceleration=Harsh Acceleration/2 Braking=Harsh Braking/3 HarshTurn=Hard Cornering/2 Crash=Crash/5
  NearCollison=Near Crash/4 NearPedestrianCollision=Near Crash,Vulnerable Road User/4 FollowingDistance=Tailgating/3
  FollowingDistanceModerate=Tailgating/4 FollowingDistanceSevere=Tailgating/5 GenericTailgating=Tailgating/3
  ForwardCollisionWarning=Forward Collision Warning/3 RearCollisionWarning=Near Crash/3 LightSpeeding=Speeding/2
  ModerateSpeeding=Speeding/3 HeavySpeeding=Speeding/4 SevereSpeeding=Speeding/5 MaxSpeed=Speeding/3
  MobileUsage=Phone Usage/4 GenericDistraction=Distraction/4 EdgeDistractedDriving=Distraction/4 Drowsy=Drowsiness/4
  Drinking=Eating Or Drinking/2 Eating=Eating Or Drinking/2 Smoking=Smoking/2 NoSeatbelt=Seat Belt Violation/3
  ObstructedCamera=Camera Obstruction/1 RanRedLight=Red Light Violation/4 RollingStop=Rolling Stop/2
  DidNotYield=Failure To Yield/3 EdgeRailroadCrossingViolation=Railroad Crossing Violation/4
  LaneDeparture=Lane Departure/3 UnsafeManeuver=Unsafe Maneuver/3 AggressiveDriving=Unsafe Maneuver/4
  UTurn=Unsafe Maneuver/3 Reversing=Reversing/1 Idling=Idling/1 UnsafeParking=Unsafe Parking/2
  RolloverProtection=Stability Control/4 YawControl=Stability Control/3
  VehicleInBlindSpotWarning=Unsafe Lane Change/2
  VulnerableRoadUserCollisionWarning=Vulnerable Road User,Forward Collision Warning/4
motive hard_accel=Harsh Acceleration/2 hard_brake=Harsh Braking/3 hard_corner=Hard Cornering/2 crash=Crash/5
  seat_belt_violation=Seat Belt Violation/3 tailgating=Tailgating/3 cell_phone=Phone Usage/4
  stop_sign_violation=Stop Sign Violation/3 distraction=Distraction/4 unsafe_lane_change=Unsafe Lane Change/3
  drowsiness=Drowsiness/4 road_facing_cam_obstruction=Camera Obstruction/1
  driver_facing_cam_obstruction=Camera Obstruction/1 forward_collision_warning=Forward Collision Warning/3
  manual_event=Other/1 lane_swerving=Lane Departure/3 aggregated_lane_swerving=Lane Departure/3 near_miss=Near Crash/4
  near_collision=Near Crash/4 possible_collision=Near Crash/4 collision=Crash/5 close_following=Tailgating/3
  lane_cutoff=Unsafe Lane Change/3 ran_red_light=Red Light Violation/4 railroad_crossing=Railroad Crossing Violation/4
  illegal_lane_usage=Unsafe Maneuver/3 passing_in_no_passing_zone=Unsafe Maneuver/3 speed_violation=Speeding/3
  delayed_response=Distraction/3 cell_phone_usage=Phone Usage/4 camera_installation_issue=Camera Obstruction/1
terminal harsh_brake=Harsh Braking/3 harsh_acceleration=Harsh Acceleration/2 harsh_turn=Hard Cornering/2
  speeding=Speeding/3 crash=Crash/5 near_crash=Near Crash/4 tailgating=Tailgating/3 cell_phone=Phone Usage/4
  distracted=Distraction/4 drowsiness=Drowsiness/4 smoking=Smoking/2 seat_belt_violation=Seat Belt Violation/3
  stop_sign_violation=Stop Sign Violation/3 red_light_violation=Red Light Violation/4
  unsafe_lane_change=Unsafe Lane Change/3 camera_obstruction=Camera Obstruction/1
  eating_and_drinking=Eating Or Drinking/2 rolling_stop=Rolling Stop/2 unsafe_parking=Unsafe Parking/2
geotab RuleEnhancedMajorCollisionId=Crash/5 RuleEnhancedMinorCollisionId=Crash/4 RuleAccidentId=Crash/4
  RuleHarshBrakingId=Harsh Braking/3 RuleHarshGpsBrakingId=Harsh Braking/3
  RuleJackrabbitStartsId=Harsh Acceleration/2 RuleHarshGpsAccelerationId=Harsh Acceleration/2
  RuleHarshCorneringId=Hard Cornering/2 RuleHarshGpsCorneringId=Hard Cornering/2 RulePostedSpeedingId=Speeding/3
  RuleSpeedingId=Speeding/3 RuleGpsSpeedingWindowId=Speeding/3 RuleFollowingDistanceId=Tailgating/3
  RuleSeatbeltId=Seat Belt Violation/3 RuleIdlingId=Idling/1 RuleIdlingNoPtoId=Idling/1 RuleFleetIdlingId=Idling/1
  RuleReverseAtStartId=Reversing/1
otapi ROLL_STABILITY=Stability Control/3 SUDDEN_START=Harsh Acceleration/2 SUDDEN_STOP=Harsh Braking/3
  COLLISION=Crash/5 ONBOARD_RECORDING=Other/1`
    .split(/\n(?! )/)
    .flatMap((lines) => {
      const [provider = '', ...rest] = lines.split(/ +/);
      return [...rest.join(' ').matchAll(/(\w+)=([\w ,]+)\/(\d)/g)].map(
        ([, word = '', types = '', risk]): [string, string, string, number] => [
          provider,
          word,
          types,
          Number(risk),
        ],
      );
    });

describe('the words of providers', () => {
  it('are all there', () => {
    expect(table).toHaveLength(114);
  });

  it.each(table)('%s: %s means %s, risk %i', (provider, word, types, risk) => {
    expect(normaliseIncidents({ provider }, [word])).toEqual({ types: types.split(','), risk });
  });

  it.each(incidentTypes)('%s itself is understood on every connection, in any spelling', (type) => {
    for (const provider of ['samsara', 'motive', 'geotab', 'unheard-of'])
      for (const word of [
        type,
        type.toUpperCase(),
        type.replaceAll(' ', '_'),
        type.toLowerCase().replaceAll(' ', '-'),
      ])
        expect(normaliseIncidents({ provider }, [word])).toEqual({ types: [type], risk: defaultRisks[type] });
  });

  it.each([
    ['hard_brake', ['Harsh Braking'], 3],
    ['Braking', ['Harsh Braking'], 3],
    ['SUDDEN_STOP', ['Harsh Braking'], 3],
    ['harsh-turn', ['Hard Cornering'], 2],
    ['collision', ['Crash'], 5],
    ['in_progress', ['Other'], 1], // no incident to Motive alone
    ['manual_event', ['Other'], 1],
  ])('are understood from providers without them: %s', (word, types, risk) => {
    for (const provider of ['acme', 'terminal'])
      expect(normaliseIncidents({ provider }, [word])).toEqual({ types, risk });
  });

  it('that nothing maps are Other, never dropped', () => {
    expect(normaliseIncidents({ provider: 'motive' }, ['brand_new', 'constructor', 'hard_brake'])).toEqual({
      types: ['Other', 'Harsh Braking'],
      risk: 3,
    });
  });

  it('that are labels and no incident are dropped, unless nothing is left', () => {
    const feed = { provider: 'samsara' };
    expect(normaliseIncidents(feed, ['ContextSnow', 'Braking', 'DefensiveDriving', 'Invalid']).types).toEqual(
      ['Harsh Braking'],
    );
    expect(normaliseIncidents(feed, ['ContextSnow'])).toEqual({ types: ['Other'], risk: 1 });
  });

  it("are what the connection's own map says first of all", () => {
    const incidentTypeMap = {
      'Rule 7': ['speeding', 'Harsh Braking'],
      hard_brake: ['near_crash'],
      odd: ['no type'],
    };
    const feed = { provider: 'geotab', incidentTypeMap };
    expect(normaliseIncidents(feed, ['Rule 7'])).toEqual({ types: ['Speeding', 'Harsh Braking'], risk: 3 });
    expect(normaliseIncidents({ ...feed, provider: 'motive' }, ['hard_brake'])).toEqual({
      types: ['Near Crash'],
      risk: 4,
    });
    expect(normaliseIncidents(feed, ['odd'])).toEqual({ types: ['Other'], risk: 1 });
  });
});
