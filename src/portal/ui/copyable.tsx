import { Icon } from './icons.tsx';

/** A text for machines, which a click selects whole; with script, a button copies it. */
export const Copyable = ({ id, text }: { id: string; text: string }) => (
  <div class="secret mt-3">
    <code id={id} tabindex={0}>
      {text}
    </code>
    <button class="btn" type="button" data-copy={id} hidden>
      <Icon name="copy" />
      <span>Copy</span>
    </button>
  </div>
);
