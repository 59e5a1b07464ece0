import { reader } from './reader.ts';

const kmPerMile = 1.609344;
const units = {
  metric: { speed: 'km/h', distance: 'km', of: (km: number) => km },
  imperial: { speed: 'mph', distance: 'mi', of: (km: number) => km / kmPerMile },
};

const rounded = (value: number): string => (Math.round(value * 10) / 10).toLocaleString('en');

/** "91 km/h", with an exceeded limit: "91 km/h, limit 80". */
export const Speed = (event: { maxSpeedKph: number | null; speedLimitKph?: number | null }) => {
  const { speed: unit, of } = units[reader().units];
  const { maxSpeedKph: speed, speedLimitKph: limit = null } = event;
  if (speed === null) return null;
  return (
    <>
      {Math.round(of(speed))} {unit}
      {limit !== null && speed > limit && `, limit ${Math.round(of(limit))}`}
    </>
  );
};

/** "142.7 km"; without decimals if `whole`. */
export const Distance = ({ km, whole = false }: { km: number; whole?: boolean }) => {
  const { distance, of } = units[reader().units];
  return (
    <>
      {rounded(whole ? Math.round(of(km)) : of(km))} {distance}
    </>
  );
};
