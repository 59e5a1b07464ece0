const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** Text without characters that nobody sees, such as those that only turn the direction of text. */
export const withoutInvisible = (text: string): string => text.replace(invisible, '').trim();

/** Not NA, which is also Namibia and the number 838 to the base of 36. */
const words = new Set('null nil none nan undefined nothing objectobject'.split(' '));
const others = /^(?:\\N|N\/A|<NA>|#N\/A|#[A-Z_/\d]+[!?])$/i;

/** Whether programs and spreadsheets write a text where there is nothing: `-`, `null`, `N/A`, `#REF!`. */
export function isNothing(text: string): boolean {
  const visible = withoutInvisible(text);
  const letters = visible.replace(/[^\p{L}\p{N}\p{So}]/gu, '').toLowerCase();
  return letters === '' || words.has(letters) || others.test(visible) || visible === 'NaT';
}

/** `2.81475E+14`, as a spreadsheet writes any of many numbers. */
const rounded = /^\d(?:[.,]\d+)?E\+\d+$/i;

/** Whether a text can be an identifier. */
export const isIdentifier = (text: string): boolean => !isNothing(text) && !rounded.test(text);
