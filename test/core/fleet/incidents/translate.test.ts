import { normaliseIncidents } from '#src/core/fleet/incidents/translate.ts';
import { defaultRisks, type IncidentType, incidentTypes } from '#src/core/fleet/incidents/types.ts';

describe('the words of providers', () => {
  it.each<[provider: string, word: string, types: IncidentType[], risk: number]>([
    ['samsara', 'Braking', ['Harsh Braking'], 3],
    ['samsara', 'NearPedestrianCollision', ['Near Crash', 'Vulnerable Road User'], 4],
    ['samsara', 'FollowingDistanceSevere', ['Tailgating'], 5],
    ['samsara', 'LightSpeeding', ['Speeding'], 2],
    ['motive', 'cell_phone', ['Phone Usage'], 4],
    ['motive', 'manual_event', ['Other'], 1],
    ['terminal', 'harsh_turn', ['Hard Cornering'], 2],
    ['geotab', 'RuleEnhancedMinorCollisionId', ['Crash'], 4],
    ['otapi', 'COLLISION', ['Crash'], 5],
  ])('%s: %s means %s, risk %i', (provider, word, types, risk) => {
    expect(normaliseIncidents({ provider }, [word])).toEqual({ types, risk });
  });

  it.each(incidentTypes)('%s itself is understood on every connection, in any spelling', (type) => {
    for (const provider of ['samsara', 'motive', 'geotab', 'unheard-of'])
      for (const word of [
        type,
        type.toUpperCase(),
        type.replaceAll(' ', '_'),
        type.toLowerCase().replaceAll(' ', '-'),
      ])
        expect(normaliseIncidents({ provider }, [word])).toEqual({
          types: [type],
          risk: defaultRisks[type],
        });
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
    expect(
      normaliseIncidents({ provider: 'motive' }, ['brand_new', 'constructor', 'hard_brake']),
    ).toEqual({
      types: ['Other', 'Harsh Braking'],
      risk: 3,
    });
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
    const feed = { provider: 'geotab', incidentTypeMap };
    expect(normaliseIncidents(feed, ['Rule 7'])).toEqual({
      types: ['Speeding', 'Harsh Braking'],
      risk: 3,
    });
    expect(normaliseIncidents({ ...feed, provider: 'motive' }, ['hard_brake'])).toEqual({
      types: ['Near Crash'],
      risk: 4,
    });
    expect(normaliseIncidents(feed, ['odd'])).toEqual({ types: ['Other'], risk: 1 });
  });
});
