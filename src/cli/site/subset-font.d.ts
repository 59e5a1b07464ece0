declare module 'subset-font' {
  /** Returns the font with the glyphs of `text` alone, its axes pinned or narrowed. */
  export default function subsetFont(
    font: Buffer,
    text: string,
    options: {
      targetFormat: 'woff2';
      variationAxes: { [axis: string]: number | { min: number; max: number } };
    },
  ): Promise<Buffer>;
}
