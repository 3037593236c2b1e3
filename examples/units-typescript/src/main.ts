// A plugin of toolhost that converts units.
import { serve } from "@toolhost/sdk";
import { plugin } from "./convert.js";

await serve(plugin);
