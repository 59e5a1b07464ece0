import type { MapPoint, Place } from '../ui/map.tsx';

/** What is known of where a trip was. */
type Ends = { startLocation: Place | null; endLocation: Place | null };

/** Where a trip began and ended, as points of a map. */
export const endsOf = ({ startLocation, endLocation }: Ends): MapPoint[] => [
  ...(startLocation ? [{ at: startLocation, name: 'Start', look: 'start' as const }] : []),
  ...(endLocation ? [{ at: endLocation, name: 'End', look: 'end' as const }] : []),
];

/** The places that are known of a trip in the order in which it came to them. `between` are in order. */
export const wayOf = ({ startLocation, endLocation }: Ends, between: (Place | null)[]): Place[] =>
  [startLocation, ...between, endLocation].filter((place) => place !== null);
