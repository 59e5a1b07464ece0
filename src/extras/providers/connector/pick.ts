import { parsedJson } from '../../../core/platform/json.ts';
import type { Wanted } from './connector.ts';

/** What is wanted, by names that are separated by spaces and lines. */
export const wantedNames = (
  names: string,
  firsts: Wanted['firsts'] = {},
  details: Wanted['details'] = [],
): Wanted => ({ names: new Set(names.split(/\s+/)), firsts, details });

/** The most of a reply that is kept: invocations share memory, and parsed JSON takes far more than text. */
export const maxKept = 2 * 1024 * 1024;
export const maxValues = 100_000;

/** What an item of a list may have of it, a text, and a number. Any field has far less. */
export const maxItem = 64 * 1024;
const maxText = 4_000;
const maxWord = 100;
const maxDepth = 100;

/** The beginning of a text, still too long for any field, without half an escape at its end. */
const cut = (text: string): string => text.slice(0, maxText).replace(/\\+[^\\]{0,5}$/, '');

/** An object or a list that is being read: what was kept in it, and how many more of the `firsts` are. */
type Frame = {
  isList: boolean;
  count: number;
  left: number | undefined;
  key: string;
  isKey: boolean;
};

/** The item that is being read: where it begins in the output, and its id as JSON. */
type Item = {
  depth: number;
  parts: number;
  size: number;
  values: number;
  id: string;
  nestedId: string;
};

/** Reads JSON as it arrives: what is not wanted takes no memory. Items too large leave their id. */
export class Picker {
  readonly tooLarge: unknown[] = [];
  readonly #wanted: Wanted;
  readonly #out: string[] = [];
  #size = 0;
  #values = 0;
  readonly #frames: Frame[] = [];
  #dropped = 0; // the depth within what is dropped
  #item: Item | undefined;
  #isFull = false; // whether there is no room for the item
  #text: string | undefined; // as far as it was read
  #isEscaped = false;
  #word = '';

  constructor(wanted: Wanted) {
    this.#wanted = wanted;
  }

  write(chunk: string): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#text !== undefined) at = this.#readText(chunk, at);
      else if (this.#dropped > 0) at = this.#skip(chunk, at);
      else at = this.#read(chunk, at);
    }
  }

  /** What was kept, as JSON: invalid if what was read is, and `undefined` if it is more than may be. */
  end(): string | undefined {
    this.#endWord();
    return this.#size > maxKept + maxItem ? undefined : this.#out.join('');
  }

  #read(chunk: string, at: number): number {
    const character = chunk[at] ?? '';
    if (!/[\s"{}[\],:]/.test(character)) {
      const word = /[^\s"{}[\],:]+/y;
      word.lastIndex = at;
      const [found = character] = word.exec(chunk) ?? [];
      this.#word += found.slice(0, maxWord - this.#word.length);
      return at + found.length;
    }
    this.#endWord();
    const frame = this.#frames.at(-1);
    if (character === '"') this.#text = '';
    else if (character === '{' || character === '[') this.#open(character === '[');
    else if (character === '}' || character === ']') this.#close();
    else if (frame && character === ':') frame.isKey = false;
    else if (frame && character === ',') frame.isKey = !frame.isList;
    return at + 1;
  }

  #readText(chunk: string, at: number): number {
    if (this.#isEscaped) {
      this.#isEscaped = false;
      this.#add(chunk.slice(at, at + 1));
      return at + 1;
    }
    const special = /["\\]/g;
    special.lastIndex = at;
    const end = special.exec(chunk)?.index ?? chunk.length;
    this.#add(chunk.slice(at, end));
    if (chunk[end] === '\\') {
      this.#add('\\');
      this.#isEscaped = true;
    } else if (chunk[end] === '"') this.#endText();
    return end + 1;
  }

  #add(part: string): void {
    if (this.#dropped === 0 && this.#text !== undefined && this.#text.length <= maxText)
      this.#text += part;
  }

  #endText(): void {
    const text = this.#text ?? '';
    this.#text = undefined;
    if (this.#dropped > 0) return;
    const frame = this.#frames.at(-1);
    if (frame?.isKey) frame.key = text;
    else this.#value(`"${text.length > maxText ? cut(text) : text}"`);
  }

  #endWord(): void {
    if (this.#word === '') return;
    this.#value(this.#word);
    this.#word = '';
  }

  /** Goes on to the end of what is dropped. */
  #skip(chunk: string, at: number): number {
    const special = /["{}[\]]/g;
    special.lastIndex = at;
    const end = special.exec(chunk)?.index ?? chunk.length;
    const character = chunk[end];
    if (character === '"') this.#text = '';
    else if (character === '{' || character === '[') this.#dropped++;
    else if (character !== undefined) this.#dropped--;
    return end + 1;
  }

  #value(json: string): void {
    const frame = this.#frames.at(-1);
    if (frame && !this.#takes(frame, json)) return;
    if (this.#item && frame?.key === 'id' && !frame.isList) {
      const depth = this.#frames.length - this.#item.depth;
      if (depth === 0) this.#item.id ||= json;
      if (depth === 1) this.#item.nestedId ||= json; // of an item in an object of its own
    }
    this.#values++;
    this.#push(this.#before(frame) + json);
  }

  #open(isList: boolean): void {
    const frame = this.#frames.at(-1);
    if (frame && !this.#takes(frame, isList ? '[' : '{')) {
      this.#dropped = 1;
      return;
    }
    this.#values++;
    this.#push(this.#before(frame));
    const { firsts } = this.#wanted;
    const remaining = frame && Object.hasOwn(firsts, frame.key) ? firsts[frame.key] : undefined;
    this.#frames.push({ isList, count: 0, left: remaining, key: '', isKey: !isList });
    if (frame?.isList && !isList && !this.#item) {
      const place = {
        depth: this.#frames.length,
        parts: this.#out.length,
        size: this.#size,
        values: this.#values,
      };
      this.#item = { ...place, id: '', nestedId: '' };
    }
    this.#push(isList ? '[' : '{');
  }

  #close(): void {
    const frame = this.#frames.pop();
    this.#push(frame?.isList ? ']' : '}');
    if (!this.#item || this.#frames.length >= this.#item.depth) return;
    const { parts, size, values, id, nestedId } = this.#item;
    this.#item = undefined;
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#out.length = parts;
    this.#size = size;
    this.#values = values;
    const remaining = id || nestedId || 'null';
    this.#push(`{"id":${remaining}}`);
    this.tooLarge.push(parsedJson(remaining));
  }

  /** Whether a value is kept. */
  #takes(frame: Frame, json: string): boolean {
    if (this.#frames.length >= maxDepth) return false;
    const { names, details } = this.#wanted;
    if (!frame.isList && names.has(frame.key))
      return !details.includes(frame.key) || this.#hasRoomForDetails();
    if (frame.left !== undefined)
      return json.startsWith('"') && frame.key.length <= maxText && frame.left-- > 0;
    return frame.isList && (this.#item !== undefined || json === '{' || this.#hasRoom());
  }

  #before(frame: Frame | undefined): string {
    if (!frame) return '';
    const comma = frame.count++ > 0 ? ',' : '';
    return frame.isList ? comma : `${comma}"${frame.key}":`;
  }

  #push(json: string): void {
    const item = this.#item;
    if (item && (this.#size - item.size > maxItem || !this.#hasRoom())) this.#isFull = true;
    if (this.#isFull || this.#size > maxKept + maxItem) return;
    this.#out.push(json);
    this.#size += json.length;
  }

  /** Whether most of the room would be left for what is needed more. */
  #hasRoomForDetails(): boolean {
    return this.#size <= maxKept / 4 && this.#size - (this.#item?.size ?? 0) <= maxItem / 4;
  }

  #hasRoom(): boolean {
    return this.#size <= maxKept && this.#values <= maxValues;
  }
}
