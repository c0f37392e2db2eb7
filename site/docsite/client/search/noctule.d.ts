// What the engine gives to pages: for type checks only, no page loads it.
interface Noctule {
  /** An engine for the index in a folder, given as an address relative to the page. */
  open(where: { base: string }): Promise<Engine>;
  /** Called by the files of the index. */
  part(name: string, length: number, packed: string): void;
}
declare const noctule: Noctule;
