import { isValid } from '../geotab/events.ts';
import { reviewOf } from '../motive/crashes.ts';
import { at } from '../read.ts';
import { crashOf } from '../samsara/events.ts';

/** What has become of a crash, as far as the provider behind Terminal says so. */
export type Verdict = 'confirmed' | 'dismissed' | undefined;

/** How each provider says it, in a record of its own: by the rules by which we read that provider ourselves. */
const rules: { [provider: string]: (data: unknown) => Verdict } = {
  samsara(data) {
    const crash = crashOf(data);
    return crash?.dismissed ? 'dismissed' : crash && crash.level > 1 ? 'confirmed' : undefined;
  },
  // Geotab says nothing when it was none but that it is not valid any more.
  geotab: (data) => (isValid(data) ? undefined : 'dismissed'),
  motive: (data) => reviewOf(at(data, 'driver_performance_event') ?? data),
};

/** Whether there is something to look for in the records of an event's provider. */
export const hasRules = (item: unknown): boolean => Object.hasOwn(rules, String(at(item, 'provider')));

/** The verdict in the provider's own records, which Terminal gives along with an event when asked. */
export function verdictOf(item: unknown): Verdict {
  const raw = at(item, 'raw');
  if (!Array.isArray(raw)) return undefined;
  const verdicts = raw.map((one) => rules[String(at(one, 'provider'))]?.(at(one, 'data')));
  return verdicts.includes('dismissed') ? 'dismissed' : verdicts.find((verdict) => verdict !== undefined);
}
