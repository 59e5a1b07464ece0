import { describe, expect, it } from 'vitest';
import { normaliseIncidents } from '../../../src/fleet/incidents/translate.ts';
import { defaultRisks, type IncidentType, incidentTypes } from '../../../src/fleet/incidents/types.ts';
import { providerWords } from '../../../src/fleet/incidents/words.ts';

describe('the words of providers', () => {
  it('are all there', () => {
    const counts = Object.entries(providerWords).map(([provider, words]) => [
      provider,
      Object.keys(words).length,
    ]);
    expect(Object.fromEntries(counts)).toEqual({
      samsara: 35,
      motive: 28,
      terminal: 5,
      geotab: 21,
      otapi: 5,
    });
  });

  it.each<[provider: string, word: string, types: IncidentType[], risk: number]>([
    ['samsara', 'Braking', ['Harsh Braking'], 3],
    ['samsara', 'FollowingDistanceSevere', ['Tailgating'], 5],
    ['samsara', 'NearPedestrianCollision', ['Near Crash', 'Vulnerable Road User'], 4],
    ['motive', 'hard_brake', ['Harsh Braking'], 3],
    ['motive', 'delayed_response', ['Distraction'], 3],
    ['motive', 'seat_belt_violation', ['Seat Belt Violation'], 3],
    ['terminal', 'eating_and_drinking', ['Eating Or Drinking'], 2],
    ['geotab', 'RuleEnhancedMinorCollisionId', ['Crash'], 4],
    ['otapi', 'SUDDEN_STOP', ['Harsh Braking'], 3],
  ])('%s: %s means %j, risk %i', (provider, word, types, risk) => {
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
        expect(normaliseIncidents({ provider }, [word])).toEqual({ types: [type], risk: defaultRisks[type] });
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
