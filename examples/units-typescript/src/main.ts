// A plugin of toolhost that converts units.
import { serve } from "toolhost";
import { plugin } from "./convert.js";

await serve(plugin);
