import { normaliseIncidents } from '#src/core/fleet/incidents/translate.ts';
import { defaultRisks, type IncidentType, incidentTypes } from '#src/core/fleet/incidents/types.ts';

describe('the words of providers', () => {
  it.each<[provider: string, word: string, types: IncidentType[], risk: number]>([
    ['samsara', 'Braking', ['Harsh Braking'], 3],
    ['samsara', 'NearPedestrianCollision', ['Near Crash', 'Vulnerable Road User'], 4],
    ['samsara', 'FollowingDistanceSevere', ['Tailgating'], 5],
    ['samsara', 'HighSpeedSuddenDisconnect', ['Near Crash'], 4],
    ['motive', 'manual_event', ['Other'], 1],
    ['terminal', 'harsh_turn', ['Hard Cornering'], 2],
    ['otapi', 'COLLISION', ['Crash'], 5],
  ])('%s: %s means %s, risk %i', (provider, word, types, risk) => {
    expect(normaliseIncidents({ provider }, [word])).toEqual({ types, risk });
  });

  it.each(incidentTypes)('%s itself is understood on every connection, in any spelling', (type) => {
    const joined = [type.replaceAll(' ', '_'), type.toLowerCase().replaceAll(' ', '-')];
    const expected = { types: [type], risk: defaultRisks[type] };
    for (const provider of ['samsara', 'motive', 'geotab', 'unheard-of'])
      for (const word of [type, type.toUpperCase(), ...joined])
        expect(normaliseIncidents({ provider }, [word])).toEqual(expected);
  });

  it.each([
    ['hard_brake', ['Harsh Braking'], 3],
    ['SUDDEN_STOP', ['Harsh Braking'], 3],
    ['in_progress', ['Other'], 1], // no incident to Motive alone
    ['manual_event', ['Other'], 1],
  ])('are understood from providers without them: %s', (word, types, risk) => {
    for (const provider of ['acme', 'terminal'])
      expect(normaliseIncidents({ provider }, [word])).toEqual({ types, risk });
  });

  it('that nothing maps are Other, never dropped', () => {
    const words = ['brand_new', 'constructor', 'hard_brake'];
    const types = ['Other', 'Harsh Braking'];
    expect(normaliseIncidents({ provider: 'motive' }, words)).toEqual({ types, risk: 3 });
  });

  it('that are labels and no incident are dropped, unless nothing is left', () => {
    const feed = { provider: 'samsara' };
    expect(
      normaliseIncidents(feed, ['ContextSnow', 'Braking', 'DefensiveDriving', 'Invalid']).types,
    ).toEqual(['Harsh Braking']);
    expect(normaliseIncidents(feed, ['ContextSnow'])).toEqual({ types: ['Other'], risk: 1 });
  });

  it("are what the connection's own map says first of all", () => {
    const incidentTypeMap = {
      'Rule 7': ['speeding', 'Harsh Braking'],
      hard_brake: ['near_crash'],
      odd: ['no type'],
    };
    for (const [word, types, risk] of [
      ['Rule 7', ['Speeding', 'Harsh Braking'], 3],
      ['hard_brake', ['Near Crash'], 4],
      ['odd', ['Other'], 1],
    ] as const)
      expect(normaliseIncidents({ provider: 'motive', incidentTypeMap }, [word])).toEqual({
        types,
        risk,
      });
  });
});
