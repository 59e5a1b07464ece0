import type { IconName } from './icon-names.ts';

/** A decorative icon beside a word. */
export const Icon = ({ name, small = false }: { name: IconName; small?: boolean }) => (
  <Shape id={name} look={small ? 'icon icon-sm' : 'icon'} />
);

/** A shape of the file that `npm run assets` builds: an icon, a risk as rising bars, or a level as segments. */
export const Shape = ({ id, look }: { id: string; look: string }) => (
  <svg class={look} aria-hidden="true">
    <use href={`/design/icons.svg#${id}`} />
  </svg>
);
