import starlight from "@astrojs/starlight"
import { defineConfig, passthroughImageService } from "astro/config"
import { base, repository, site } from "./address.ts"
import { sidebar } from "./sidebar.ts"

export default defineConfig({
  site,
  base,
  trailingSlash: "always",
  // Pictures are shown as they are, so that nobody has to install a program that resizes them.
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: "Divisi",
      description:
        "An open, self-hosted Conductor: a plan for each question, and a pool of any models that carries it out.",
      logo: { light: "./src/assets/wordmark-light.svg", dark: "./src/assets/wordmark-dark.svg", replacesTitle: true },
      favicon: "/favicon.svg",
      customCss: ["./src/styles/site.css"],
      social: [{ icon: "github", label: "GitHub", href: repository }],
      credits: false,
      lastUpdated: false,
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      sidebar
    })
  ]
})
