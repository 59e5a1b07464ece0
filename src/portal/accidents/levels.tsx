import { levelNames } from '../../core/webhooks/notifications/types.ts';
import type { Accident } from '../../ui/read/named-lists.ts';
import { spanInWords, Time } from '../../ui/time.tsx';

/** The three levels of an accident as steps, each with when it was received and how long after the previous one. */
export const Levels = ({ accident }: { accident: Accident }) => {
  const { notificationLevel, dismissed } = accident;
  return (
    <ol class="levels levels-row">
      {levelNames.map((name, i) => {
        const level = i + 1;
        const done = level <= notificationLevel;
        const next = level === notificationLevel + 1 && !dismissed;
        const received = receivedIn(accident, level);
        return (
          <li
            class={done ? 'done' : next ? 'now' : undefined}
            aria-current={next ? 'step' : undefined}
          >
            <span class="step" aria-hidden="true">
              {level}
            </span>
            <strong>{name}</strong>
            <span>
              {received && <Time at={received.at} seconds />}{' '}
              <span class="sub">
                {received?.after}
                {!received && done && 'Not reported on its own'}
                {!received && !done && (dismissed ? 'Not reached' : 'Not yet')}
              </span>
            </span>
            <span class="sub">{meaningOf(accident, level)}</span>
          </li>
        );
      })}
    </ol>
  );
};

/** When a level was received, and how long after the one before it: "8 s after the accident", then "+1 min 56 s". */
function receivedIn({ levels, eventTime }: Accident, level: number) {
  const at = levels.find(({ notificationLevel }) => notificationLevel === level)?.receivedAt;
  if (!at) return undefined;
  const before = levels.filter(({ notificationLevel }) => notificationLevel < level).at(-1);
  const span = spanInWords(Date.parse(at) - Date.parse(before?.receivedAt ?? eventTime));
  return { at, after: before ? `+${span}` : `${span} after the accident` };
}

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
