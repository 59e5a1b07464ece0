/** A host, a URL or an email address, whose lines end at its dots and slashes rather than within a word. */
export const Breakable = ({ text }: { text: string }) => (
  <>{text.split(/(?<=[./@?&=_])(?=[^/])/).flatMap((part, i) => (i > 0 ? [<wbr />, part] : part))}</>
);
