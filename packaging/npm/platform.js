// Finds the program of this platform. npm installs exactly one of the platform packages, by their `os` and `cpu`.
"use strict";

const path = require("node:path");
const { optionalDependencies, repository, version } = require("./package.json");

function findProgram() {
  const name = `handover-cli-${process.platform}-${process.arch}`;
  if (!(name in optionalDependencies)) {
    const known = Object.keys(optionalDependencies).map((name) => name.replace("handover-cli-", ""));
    throw new Error(
      `there is no program for ${process.platform}-${process.arch}, only for ${known.join(", ")}.\n` +
        `Build it from source: cargo install --git ${repository.url.replace(/^git\+/, "")} handover-cli`,
    );
  }
  const program = process.platform === "win32" ? "handover.exe" : "handover";
  try {
    const manifest = require.resolve(`${name}/package.json`);
    return path.join(path.dirname(manifest), "bin", program);
  } catch {
    throw new Error(
      `the package ${name} is not installed. It is an optional dependency, which --omit=optional and ` +
        "--no-optional leave out, and so does a lock file that was written on another platform.\n" +
        `Install it too: npm install ${name}@${version}`,
    );
  }
}

module.exports = { findProgram };
