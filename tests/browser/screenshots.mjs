// Takes a screenshot of every page at phone, tablet and desktop width, light and dark: node screenshots.mjs PROGRAM FOLDER [WORDS]
// WORDS, separated by commas, limit it to the pages whose name contains one of them.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { fill } from "./fill.mjs";
import { openProvider } from "./provider.mjs";
import { serve } from "./serve.mjs";
import { shown } from "./totp.mjs";

const [program, folder, words = ""] = process.argv.slice(2);
const isWanted = (name) => words.split(",").some((word) => name.includes(word));
mkdirSync(folder, { recursive: true });

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const provider = await openProvider("demo@example.com");
const server = await serve(program, ["--demo", ...provider.args]);
const fresh = await serve(program, []);
try {
  const made = await fill(server);
  for (const scheme of ["light", "dark"]) {
    for (const width of [390, 768, 1440]) {
      const context = await browser.newContext({ colorScheme: scheme, viewport: { width, height: width === 390 ? 844 : 900 }, timezoneId: "Europe/Berlin", locale: "en-GB" });
      const page = await context.newPage();
      const problems = [];
      page.on("console", (message) => { if (message.type() === "error") problems.push(message.text()); });
      page.on("pageerror", (error) => problems.push(String(error)));
      const shoot = async (name, url, act) => {
        if (!isWanted(name)) return;
        await page.goto(url);
        if (act) await act(page);
        await page.evaluate(() => scrollTo(0, 0));
        await page.waitForTimeout(250);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        if (wide) problems.push(`${name} is wider than ${width}`);
        await page.screenshot({ path: join(folder, `${name}-${width}-${scheme}.png`), fullPage: true });
      };
      await shoot("set-up", fresh.link);
      for (const [name, path] of made.openPages) await shoot(name, server.origin + path);
      await page.goto(server.origin);
      await page.fill("#email", server.email);
      await page.fill("#password", server.password);
      await page.click("main button");
      await page.waitForURL("**/o/**");
      const home = page.url();
      for (const [name, path, act] of made.pages) await shoot(name, home + path, act);
      if (!isWanted("two-factor-on")) {
        if (problems.length) console.log(`${width} ${scheme}:\n  ${[...new Set(problems)].join("\n  ")}`);
        await context.close();
        continue;
      }
      // Another user, who enables two-factor codes.
      const mia = { email: `mia-${scheme}-${width}@example.com`, password: "correct horse battery" };
      await page.goto(server.origin);
      await page.click(".you summary");
      await page.click("text=Sign out");
      await page.goto(await made.invite(mia.email));
      await page.fill("#password", mia.password);
      await page.click("main button");
      await page.waitForURL("**/o/**");
      await shoot("two-factor-add", `${home}/profile/two-factor`, async () => {
        await page.fill("#present", mia.password);
        await page.click("text=Add an authenticator app");
      });
      await shoot("two-factor-wrong", page.url(), async () => { await page.fill("#code", "no"); await page.click("text=Turn codes on"); });
      await page.fill("#code", shown(await page.textContent("#secret")));
      await page.click("text=Turn codes on");
      await page.waitForSelector("#recovery");
      await page.screenshot({ path: join(folder, `two-factor-on-${width}-${scheme}.png`), fullPage: true });
      await page.click(".you summary");
      await page.click("text=Sign out");
      await page.fill("#email", mia.email);
      await page.fill("#password", mia.password);
      await page.click("main button");
      await page.waitForSelector("#one-time-code");
      await page.screenshot({ path: join(folder, `sign-in-code-${width}-${scheme}.png`) });
      if (problems.length) console.log(`${width} ${scheme}:\n  ${[...new Set(problems)].join("\n  ")}`);
      await context.close();
    }
  }
} finally {
  await browser.close();
  await server.stop();
  await fresh.stop();
  provider.close();
}
