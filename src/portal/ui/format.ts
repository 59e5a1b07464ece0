/** "91 km/h", and the limit if that was exceeded: "91 km/h, limit 80"; empty if it is unknown. */
export function speedOf(event: { maxSpeedKph: number | null; speedLimitKph: number | null }): string {
  const { maxSpeedKph: speed, speedLimitKph: limit } = event;
  if (speed === null) return '';
  return `${rounded(speed)} km/h${limit !== null && speed > limit ? `, limit ${rounded(limit)}` : ''}`;
}

/** "57 mph" */
export const inMph = (kph: number): string => `${Math.round(kph / 1.609344)} mph`;

/** "142.7 km" */
export const distance = (km: number): string => `${rounded(km)} km`;

const rounded = (value: number): string => String(Math.round(value * 10) / 10);
