/** Control characters, those that reorder text from right to left, and line separators. */
const invisible = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/**
 * Returns other people's text as one line that is safe to print: characters that would move the cursor, change
 * colours or reorder letters show as escapes such as `\u001b`.
 */
export const printable = (text: string): string =>
  text.replace(invisible, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Returns indented JSON, equally safe to print; the escapes are those of JSON, so programs read the original. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).split('\n').map(printable).join('\n');
