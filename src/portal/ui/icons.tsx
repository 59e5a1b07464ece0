import type { IconName } from './icon-names.ts';

/** A decorative icon beside a word. */
export const Icon = ({ name, small = false }: { name: IconName; small?: boolean }) => (
  <Shape id={name} look={small ? 'icon icon-sm' : 'icon'} />
);

/** A risk from 1 to 5 as rising bars. */
export const RiskBars = ({ risk }: { risk: number }) => <Shape id={`risk-${risk}`} look="glyph" />;

/** The levels of an accident, from 1 to 3, as segments. */
export const LevelBars = ({ level }: { level: number }) => (
  <Shape id={`level-${level}`} look="glyph glyph-level" />
);

/** A shape of the file that `npm run assets` builds. */
const Shape = ({ id, look }: { id: string; look: string }) => (
  <svg class={look} aria-hidden="true">
    <use href={`/design/icons.svg#${id}`} />
  </svg>
);
