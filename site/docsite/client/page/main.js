// @ts-check
// What a page does by itself, in the order in which it is set up.

import { reader } from "../reader/reader.js";
import { addCopyButtons } from "./copy.js";
import { drawDiagrams } from "./diagrams.js";
import { nameFolders } from "./folders.js";
import { markFoundWords } from "./marks.js";
import { arrangeNavigation } from "./nav.js";
import { offerOfflineReading } from "./offline.js";
import { showPreviews } from "./preview.js";
import { offerSearch } from "./search.js";
import { makeTabs } from "./tabs.js";
import { offerVersions } from "./versions.js";

window.noctuleReader = reader;
nameFolders();
addCopyButtons();
drawDiagrams();
markFoundWords();
arrangeNavigation();
offerOfflineReading();
showPreviews();
offerSearch();
makeTabs();
offerVersions();
