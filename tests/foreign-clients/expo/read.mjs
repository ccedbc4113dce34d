// Expo's own parsers, unmodified: reads {contentType, body (Base64), dictionaries, lists} from standard input and writes what they
// make of each.
import { readFileSync } from "node:fs";
import { parseMultipartMixedResponseAsync } from "@expo/multipart-body-parser";
import { parseDictionary, parseList } from "structured-headers";

const input = JSON.parse(readFileSync(0, "utf8"));
const parts = await parseMultipartMixedResponseAsync(input.contentType, Buffer.from(input.body, "base64"));
const texts = (parse) => (field) => {
  try {
    return parse(field);
  } catch {
    return null;
  }
};
const text = (value) => (typeof value === "string" ? value : null);
process.stdout.write(
  JSON.stringify({
    parts: parts.map((part) => ({ name: part.name, body: part.body, signature: part.headers.get("expo-signature") ?? null })),
    dictionaries: input.dictionaries.map(
      texts((field) => [...parseDictionary(field)].map(([key, [value]]) => [key, text(value)])),
    ),
    lists: input.lists.map(texts((field) => parseList(field).map(([value]) => text(value)))),
  }),
);
