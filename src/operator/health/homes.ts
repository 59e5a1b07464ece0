import { hasHomes, homesOf } from '../../platform/homes/homes.ts';
import type { Health, HomeHealth } from '../api/service.ts';
import { checkHealth, problemOf, warningOf } from './service.ts';

/** Checks each home, at the same time. Never throws: a failure is a result. */
export async function checkHomes(env: Env): Promise<Health> {
  if (!hasHomes(env)) return checkHealth(env);
  const names = [...homesOf(env).keys()];
  const checked = await Promise.all([...homesOf(env).values()].map((home) => checkHealth(home)));
  return { ...worstOf(checked), homes: Object.fromEntries(checked.map((health, at) => [names[at], health])) };
}

/** What is wrong, in words for people, with the home that it is about; undefined if all is well. */
export const problemIn = (health: Health): string | undefined => said(health, problemOf);

/** What will go wrong unless somebody does something, in the same way. */
export const warningIn = (health: Health): string | undefined => said(health, warningOf);

function said(
  { homes, ...only }: Health,
  words: (health: HomeHealth) => string | undefined,
): string | undefined {
  if (!homes) return words(only);
  const found = Object.entries(homes).flatMap(([name, health]) => {
    const text = words(health);
    return text ? [`${name}: ${text}`] : [];
  });
  return found.length > 0 ? found.join('; ') : undefined;
}

function worstOf(all: HomeHealth[]): HomeHealth {
  const known = <T>(values: (T | null)[]) => values.filter((value) => value !== null);
  const most = (values: (number | null)[]) => known(values).reduce<number | null>(greater, null);
  const sizes = known(all.map(({ size }) => size)).toSorted((a, b) => b.share - a.share);
  return {
    database: all.every(({ database }) => database === 'ok') ? 'ok' : 'unavailable',
    queueBacklog: known(all.map(({ queueBacklog }) => queueBacklog)).reduce<number | null>(sum, null),
    oldestDueSeconds: most(all.map(({ oldestDueSeconds }) => oldestDueSeconds)),
    sweptSecondsAgo: most(all.map(({ sweptSecondsAgo }) => sweptSecondsAgo)),
    size: sizes[0] ?? null,
  };
}

const greater = (a: number | null, b: number): number => Math.max(a ?? b, b);
const sum = (a: number | null, b: number): number => (a ?? 0) + b;
