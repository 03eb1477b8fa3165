# Runnel's tasks. `make help` lists them.

.PHONY: help lint format
help: ## List the tasks.
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

lint: ## Check the format of every source, strictly.
	swift format lint --strict --parallel --recursive Sources Tests Package.swift

format: ## Rewrite every source in the project's format.
	swift format --in-place --parallel --recursive Sources Tests Package.swift
