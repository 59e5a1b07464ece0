/** A table in Markdown; nothing if it has no rows. */
export const table = (head: string[], rows: string[][]): string =>
  rows.length === 0
    ? ''
    : [head, head.map(() => '---'), ...rows]
        .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
        .join('\n');

/** A block of code in Markdown; `info` is its language, and its title. */
export const fence = (info: string, text: string): string => `\`\`\`${info}\n${text}\n\`\`\``;

export const code = (value: unknown): string => `\`${value}\``;
