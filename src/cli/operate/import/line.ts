/** A line of a file: its number from 1, its record or problem, and the bytes read so far. */
export type Line = { line: number; record?: unknown; problem?: string | undefined; bytesRead: number };

/** A line of text, or what is wrong with it. */
export type Text = { line: number; text: string; problem?: string; bytesRead: number };
