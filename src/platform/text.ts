/** The duration of a call: "41 ms", "2,140 ms", "15 s". */
export const duration = (ms: number): string =>
  ms < 10_000 ? `${ms.toLocaleString('en')} ms` : `${Math.round(ms / 1000)} s`;

/** A count with its noun: `1 delivery`, `1,234 deliveries`; from `max` on, `100 or more deliveries`. */
export function counted(count: number, one: string, many: string, max = Number.POSITIVE_INFINITY): string {
  const digits = count.toLocaleString('en-US');
  return count >= max ? `${digits} or more ${many}` : `${digits} ${count === 1 ? one : many}`;
}

/** `Safety events` for `safety events`. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
