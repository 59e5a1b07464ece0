/** A table in Markdown; nothing when it has no rows. */
export const table = (head: string[], rows: string[][]): string =>
  rows.length === 0
    ? ''
    : [head, head.map(() => '---'), ...rows]
        .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
        .join('\n');

/** A block of code in Markdown; `info` is its language, and what stands above it. */
export const fence = (info: string, text: string): string => `\`\`\`${info}\n${text}\n\`\`\``;

/** A value as code in Markdown. */
export const code = (value: unknown): string => `\`${value}\``;
