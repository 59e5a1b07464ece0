/** A count capped at `most`, which means that many or more: "37", "1,000+". */
export const cappedCount = (count: number, most: number): string =>
  `${count.toLocaleString('en')}${count < most ? '' : '+'}`;

/** A share from 0 to 1 as "97.6%", rounded down: less than all is never "100%". */
export function percent(share: number, digits = 0): string {
  const scale = 10 ** digits;
  return `${Math.floor(Math.min(1, share) * 100 * scale) / scale}%`;
}

/** "950", "1.2K" */
export const compact = (value: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(value);

/** Names as a list in words: at most five, and that there are others. */
export function listed(names: string[]): string {
  if (names.length > 5) return `${names.slice(0, 5).join(', ')} and others`;
  const last = names.at(-1) ?? '';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}
