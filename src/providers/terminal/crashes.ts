import type { Crash } from '../crash.ts';
import { isValid } from '../geotab/records.ts';
import { reviewOf } from '../motive/crashes.ts';
import { at, field, itemsAt } from '../read.ts';
import { crashOf as crashOfSamsara } from '../samsara/events.ts';

/**
 * How far a crash has come; undefined for what is none. Terminal has no state of review, and never says that it was a
 * false alarm but by another type.
 */
export function crashOf(item: unknown): Crash | undefined {
  if (at(item, 'type') !== 'crash') return undefined;
  const verdict = verdictOf(item);
  return {
    vin: field(item, 'vehicle', 'vin'),
    level: verdict === 'confirmed' ? (hasVideo(item) ? 3 : 2) : 1,
    dismissed: verdict === 'dismissed',
    reportUrl: null,
    accelerationG: forceOf(item),
  };
}

/** The stronger of the two directions in which it was felt, in g. */
function forceOf(item: unknown): number | undefined {
  const forces = ['gForceForwardBackward', 'gForceSideToSide']
    .map((name) => at(item, 'stats', name))
    .filter((force) => typeof force === 'number');
  return forces.length > 0 ? Math.max(...forces.map(Math.abs)) : undefined;
}

const hasVideo = (item: unknown): boolean =>
  ['frontFacing', 'rearFacing'].some((camera) => at(item, 'cameraMedia', camera, 'available') === true);

/** The state of a crash according to the provider behind Terminal. */
type Verdict = 'confirmed' | 'dismissed' | undefined;

/** How each provider says it, in a record of its own: by the rules by which we read that provider ourselves. */
const rules: { [provider: string]: (data: unknown) => Verdict } = {
  samsara(data) {
    const crash = crashOfSamsara(data);
    return crash?.dismissed ? 'dismissed' : crash && crash.level > 1 ? 'confirmed' : undefined;
  },
  // Geotab says nothing when it was none but that it is not valid any more.
  geotab: (data) => (isValid(data) ? undefined : 'dismissed'),
  motive: (data) => reviewOf(at(data, 'driver_performance_event') ?? data),
};

/** The verdict in the provider's own records, which Terminal gives along with an event. */
function verdictOf(item: unknown): Verdict {
  const verdicts = itemsAt(item, 'raw').map((one) => rules[String(at(one, 'provider'))]?.(at(one, 'data')));
  return verdicts.includes('dismissed') ? 'dismissed' : verdicts.find((verdict) => verdict !== undefined);
}
