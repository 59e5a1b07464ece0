import type { Child } from 'hono/jsx';
import { levelNames } from '../../webhooks/notifications/types.ts';
import type { Accident } from '../ui/accidents.tsx';
import { spanInWords, Time } from '../ui/time.tsx';

/** The three levels of an accident as steps, each with when it was received and how long after the previous one. */
export const Levels = ({ accident }: { accident: Accident }) => {
  const { notificationLevel, dismissed } = accident;
  const times = timesOf(accident);
  return (
    <ol class="levels levels-row">
      {levelNames.map((name, i) => {
        const level = i + 1;
        const done = level <= notificationLevel;
        const next = level === notificationLevel + 1 && !dismissed;
        return (
          <li class={done ? 'done' : next ? 'now' : undefined} aria-current={next ? 'step' : undefined}>
            <span class="step" aria-hidden="true">
              {level}
            </span>
            <strong>{name}</strong>
            <span>{done ? <When times={times} level={level} /> : dismissed ? 'Not reached' : 'Not yet'}</span>
            <span class="sub">{meaningOf(accident, level)}</span>
          </li>
        );
      })}
    </ol>
  );
};

/** When the accident happened, and when each level was received; a level may be missing. */
const timesOf = ({ eventTime, levels }: Accident): (number | undefined)[] => [
  Date.parse(eventTime),
  ...levelNames.map((_, i) => {
    const level = levels.find(({ notificationLevel }) => notificationLevel === i + 1);
    return level && Date.parse(level.receivedAt);
  }),
];

const When = ({ times, level }: { times: (number | undefined)[]; level: number }): Child => {
  const at = times[level];
  if (at === undefined) return <>Not reported on its own</>;
  const before = times.slice(0, level).findLastIndex((time) => time !== undefined);
  const span = spanInWords(at - (times[before] ?? at));
  return (
    <>
      <Time at={at} seconds />{' '}
      <span class="sub">{before === 0 ? `${span} after the accident` : `+${span}`}</span>
    </>
  );
};

function meaningOf(accident: Accident, level: number): string {
  const { notificationLevel, isAccurate, dismissed, tSP, reportUrl } = accident;
  if (dismissed && level > notificationLevel) return 'It was a false alarm';
  if (level === 1) return `From ${tSP}, unverified`;
  if (level === 2) {
    if (notificationLevel < 2) return 'Whether it was an accident';
    return isAccurate ? 'Confirmed as an accident' : 'Not confirmed';
  }
  if (notificationLevel < 3) return 'The full report';
  return reportUrl ? `At ${new URL(reportUrl).host}` : `At ${tSP}`;
}
