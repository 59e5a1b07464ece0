import type { Child } from 'hono/jsx';
import { Icon, type IconName, LevelBars, RiskBars } from './icons.tsx';

/** What a state means for the reader: all is well, it needs watching, it needs somebody, or nothing of that. */
export type Mood = 'ok' | 'warn' | 'bad' | 'quiet';

const moodIcons: { [mood in Mood]: IconName } = {
  ok: 'circle-check',
  warn: 'triangle-alert',
  bad: 'octagon-x',
  quiet: 'circle-slash',
};

/** The state of a thing: a shape and a word, never a colour alone. */
export const State = (props: { mood: Mood; icon?: IconName; children: Child }) => (
  <span class={`state ${props.mood}`}>
    <Icon name={props.icon ?? moodIcons[props.mood]} small />
    <span>{props.children}</span>
  </span>
);

const riskNames = ['', 'Low', 'Minor', 'Medium', 'High', 'Critical'];

/** A risk from 1 to 5, as bars and number, with its name if `named`. */
export const Risk = ({ risk, named = false }: { risk: number; named?: boolean }) => (
  <span class={`risk risk-${risk}`}>
    <RiskBars risk={risk} />
    <span>
      <span class="sr-only">Risk </span>
      {risk}
      {named && ` ${riskNames[risk]}`}
    </span>
  </span>
);

/** The level of an accident, from 1 to 3. */
export const Level = ({ level }: { level: number }) => (
  <span class="level">
    <LevelBars level={level} />
    <span>Level {level}</span>
  </span>
);
