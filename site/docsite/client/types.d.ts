// What the scripts share, for the type checker only: nothing here is shipped.

interface SearchFilters {
  tag?: string[];
  community?: number[];
  language?: string[];
  section?: string[];
  collection?: string[];
  date?: number[];
}

interface QueryOptions {
  limit: number;
  filters: SearchFilters;
  /** Whether only this site is asked, of several. */
  alone?: boolean;
  signal?: AbortSignal;
  weights?: SearchWeights;
  facets?: boolean;
  early?: (hits: SearchHit[]) => void;
}

/** In a question: factors on what the engine does by itself, 1 leaves it as it is. */
interface SearchWeights {
  keyword: number;
  semantic: number;
  links: number;
  support: number;
}

interface SearchSection {
  url: string;
  title: string;
  breadcrumb: string[];
  excerpt: string;
  marks: [number, number][];
  code?: boolean;
}

/** `keyword` and `semantic` add up to a score, by which `links` and `support` are factors. */
interface SearchWhy extends SearchWeights {
  boost: number;
  terms: string[];
}

interface SearchHit {
  url: string;
  title: string;
  breadcrumb: string[];
  score: number;
  why: SearchWhy;
  modified?: string;
  sections: SearchSection[];
  site?: string;
}

interface FacetValue {
  value: string | number;
  label?: string;
  count: number;
}

type FacetName = "collection" | "section" | "tag" | "community" | "language" | "date";

interface SearchAnswer {
  hits: SearchHit[];
  total: number;
  facets: Partial<Record<FacetName, FacetValue[]>>;
  spelling: { from: string; to: string; offered: boolean }[];
  near: string[];
  took: { ms: number; bytes: number; requests: number };
  absent?: string[];
}

interface SearchEngine {
  search(query: string, options: QueryOptions): Promise<SearchAnswer>;
  browse(options: { limit: number; filters: SearchFilters }): Promise<SearchAnswer>;
  more(answer: SearchAnswer, count: number): Promise<SearchHit[]>;
  facets(answer: SearchAnswer | null): Promise<SearchAnswer["facets"]>;
  warm(words: string): void;
  suggest(prefix: string): Promise<string[]>;
}

interface SearchError extends Error {
  code?: "missing" | "damaged" | "other-build";
}

interface Element_ {
  (
    tag: string,
    attributes?: Record<string, string | boolean | null>,
    ...children: (Node | string)[]
  ): HTMLElement;
}

interface ZeroResult {
  query: string;
  count: number;
}

/** A row that the arrow keys reach, and the result that it belongs to. */
interface Choice {
  link: HTMLAnchorElement;
  rank: number;
  hit: SearchHit;
}

/** What the parts of the search dialog share. */
interface DialogParts {
  dialog: HTMLDialogElement;
  input: HTMLInputElement;
  list: HTMLElement;
  facets: HTMLElement;
  scroll: HTMLElement;
  state: HTMLElement;
  count: HTMLElement;
  why: HTMLButtonElement;
  close: HTMLButtonElement;
}

/** What the engine's script defines: `part` is called by the files of an index. */
interface Noctule {
  open(options: { base: string }): Promise<SearchEngine>;
  part(name: string, length: number, packed: string): void;
}

/** A page of this site that was opened from the dialog. */
interface RecentPage {
  url: string;
  title: string;
  breadcrumb: string[];
}

/** What this browser remembers of searches. */
interface SearchMemory {
  select(query: string, choice: Choice): void;
  recent(): string[];
  addRecent(query: string): void;
  clearRecent(): void;
  pages(): RecentPage[];
  zero(): ZeroResult[];
  addZero(query: string): void;
  clearZero(): void;
}

/** What the script of a page publishes as `noctuleReader`; the dialog's script, loaded later, adds the last three. */
interface Reader {
  root: string;
  /** Where the dialog is put, if not in the page's body, and what the address calls the query, if not `q`. */
  host?: ShadowRoot;
  parameter?: string;
  say(part: string, key: string, values?: Record<string, string | number>): string;
  address(path: string): string;
  load(path: string): Promise<void>;
  element: Element_;
  emit(name: string, detail: Record<string, unknown>): void;
  safeAddress(url: string): string;
  openDialog(query: string, from: HTMLElement | null): void;
  engine(): Promise<SearchEngine>;
  remember: SearchMemory;
}

/** WebMCP, where a browser has it. */
interface Document {
  modelContext?: { registerTool(tool: object): Promise<void> | void };
}

/** Global Privacy Control, where a browser has it. */
interface Navigator {
  globalPrivacyControl?: boolean;
}

interface Window {
  /** As some browsers have it. */
  doNotTrack?: string;
  noctuleReader: Reader;
  noctuleWords: Record<string, Record<string, string>>;
  /** The versions beside this one, as versions.js lists them. */
  /** The pages of versions, as pages-VERSION.js lists them. */
  noctulePages?: Record<string, string[]>;
  noctuleVersions?: { version: string; title: string; aliases: string[] }[];
  noctulePreviews?: (table: Record<string, [string, string]>) => void;
  noctule?: Noctule;
  mermaid?: {
    initialize(options: Record<string, unknown>): void;
    render(id: string, source: string): Promise<{ svg: string }>;
  };
}
